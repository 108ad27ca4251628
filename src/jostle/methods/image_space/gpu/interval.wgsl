// Near and far depth of both bodies: convex solids share a point of the ray where their intervals overlap.

@group(1) @binding(0) var near_depth: texture_depth_2d;
@group(1) @binding(1) var far_depth: texture_depth_2d;

fn common_depths(piece: u32, at: vec2u) -> vec2f {
    let both = pieces[piece].origin;
    // Without a body near is 1 and far is 0: nothing in common.
    return vec2f(
        max(textureLoad(near_depth, at + both.xy, 0), textureLoad(near_depth, at + both.zw, 0)),
        min(textureLoad(far_depth, at + both.xy, 0), textureLoad(far_depth, at + both.zw, 0)),
    );
}
