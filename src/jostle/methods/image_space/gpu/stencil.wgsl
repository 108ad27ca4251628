// The paper's counts (Fig. 3, Fig. 4): in A's picture the depth is A's far side and the stencil counts the faces of B at or before it;
// in B's picture the roles are exchanged. Both counts at 1 or more are a collision. Only the far end of the common depths is known.

@group(1) @binding(0) var far_depth: texture_depth_2d;
@group(1) @binding(1) var faces_before: texture_2d<u32>;

fn common_depths(piece: u32, at: vec2u) -> vec2f {
    let both = pieces[piece].origin;
    let of_b = textureLoad(faces_before, at + both.xy, 0).x;
    let of_a = textureLoad(faces_before, at + both.zw, 0).x;
    if (of_b == 0u || of_a == 0u) {
        return NONE;
    }
    return vec2f(min(textureLoad(far_depth, at + both.xy, 0), textureLoad(far_depth, at + both.zw, 0)));
}
