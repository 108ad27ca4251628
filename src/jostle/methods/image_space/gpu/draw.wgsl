// One instance draws one patch of one body into one piece: 64 faces of any mesh (vertices are fetched from buffers).
// `Vertex` and `keep_inside` come from clip_by_distance.wgsl or clip_by_discard.wgsl.

@group(0) @binding(0) var<storage, read> points: array<i32>;      // three per point, steps from the middle of its mesh
@group(0) @binding(1) var<storage, read> corners: array<u32>;     // three times 8 bits, relative to the patch's first point
@group(0) @binding(2) var<storage, read> patches: array<vec4u>;   // first point, first face, faces
@group(0) @binding(3) var<storage, read> instances: array<vec2u>; // patch, 2 * piece + role
@group(0) @binding(4) var<storage, read> pieces: array<Piece>;
@group(0) @binding(5) var<uniform> round: Round;

fn placed(vertex: u32, instance: u32, other_picture: u32) -> Vertex {
    var out: Vertex;
    let drawn = instances[round.first_instance + instance];
    let patch_ = patches[drawn.x];
    let face = vertex / 3u;
    out.piece_and_role = drawn.y;
    out.position = vec4f(0.0, 0.0, 2.0, 1.0); // behind everything: for faces beyond the end of the patch
    if (face < patch_.z) {
        let role = drawn.y & 1u;
        let piece = drawn.y >> 1u;
        let reference = pieces[piece].roles[role].reference;
        // A mirrored view reverses the corners, so that outer sides are always counterclockwise.
        let corner = select(vertex % 3u, 2u - vertex % 3u, reference.w == 1);
        let point = 3u * (patch_.x + ((corners[patch_.y + face] >> (8u * corner)) & 255u));
        // Integers up to here: near the piece the difference is small, and a float holds it to 2^-24 of itself. A vertex
        // gets the same bits in every patch, so that a closed mesh stays closed.
        let from_reference = vec3i(points[point], points[point + 1u], points[point + 2u]) - reference.xyz;
        let p = vec4f(vec3f(from_reference), 1.0);
        let at = vec2f(dot(pieces[piece].roles[role].x, p), dot(pieces[piece].roles[role].y, p));
        let depth = dot(pieces[piece].roles[role].z, p);
        let both = pieces[piece].origin;
        let picture = vec2f(select(both.xy, both.zw, (role ^ other_picture) == 1u));
        let size = vec2f(pieces[piece].rectangle.xy);
        let place = (picture + at) * (2.0 / round.atlas) - 1.0;
        out.position = vec4f(place.x, -place.y, depth, 1.0);
        keep_inside(&out, at, size, picture);
    }
    return out;
}

@vertex
fn in_own_picture(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Vertex {
    return placed(vertex, instance, 0u);
}

@vertex
fn in_the_other_picture(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Vertex {
    return placed(vertex, instance, 1u);
}
