// Keeps a patch inside its piece fragment by fragment, for devices without clip distances: correct, and half as fast.

struct Vertex {
    @invariant @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) piece_and_role: u32,
    @location(1) @interpolate(flat) picture: vec2f,
}

fn keep_inside(out: ptr<function, Vertex>, at: vec2f, size: vec2f, picture: vec2f) {
    (*out).picture = picture;
}

@fragment
fn inside_only(fragment: Vertex) {
    let at = fragment.position.xy - fragment.picture;
    if (any(at < vec2f(0.0)) || any(at > vec2f(pieces[fragment.piece_and_role >> 1u].rectangle.xy))) {
        discard;
    }
}
