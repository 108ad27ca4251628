// Keeps every fragment of pixels where near and far depths of the two bodies overlap, in the slots of the pixel: depth and side.
// A fragment beyond the last slot is counted, not kept.

@group(1) @binding(0) var near_depth: texture_depth_2d;
@group(1) @binding(1) var far_depth: texture_depth_2d;
@group(1) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(1) @binding(3) var<storage, read_write> slots: array<u32>;

struct Fragment {
    @builtin(position) position: vec4f,
    @builtin(front_facing) front: bool,
    @location(0) @interpolate(flat) piece_and_role: u32,
}

@fragment
fn keep_layer(fragment: Fragment) {
    let piece = fragment.piece_and_role >> 1u;
    let role = fragment.piece_and_role & 1u;
    let both = pieces[piece].origin;
    let rectangle = pieces[piece].rectangle;
    let layers = pieces[piece].layers;
    let at = vec2u(fragment.position.xy) - select(both.xy, both.zw, role == 1u);
    let near = max(textureLoad(near_depth, at + both.xy, 0), textureLoad(near_depth, at + both.zw, 0));
    let far = min(textureLoad(far_depth, at + both.xy, 0), textureLoad(far_depth, at + both.zw, 0));
    if (near <= far && all(at < rectangle.xy)) {
        let pixel = (role * rectangle.y + at.y) * rectangle.x + at.x;
        let slot = atomicAdd(&counts[layers.z + pixel], 1u);
        if (slot < layers.y) {
            // The bits of non-negative floats are in the order of the floats.
            slots[layers.w + pixel * layers.y + slot] = (bitcast<u32>(fragment.position.z) << 1u) | select(1u, 0u, fragment.front);
        }
    }
}
