enable clip_distances;

// Keeps a patch inside its piece by four clip distances, before it is rasterised.

struct Vertex {
    @invariant @builtin(position) position: vec4f,
    @builtin(clip_distances) clip: array<f32, 4>,
    @location(0) @interpolate(flat) piece_and_role: u32,
}

fn keep_inside(out: ptr<function, Vertex>, at: vec2f, size: vec2f, picture: vec2f) {
    (*out).clip = array<f32, 4>(at.x, size.x - at.x, at.y, size.y - at.y);
}
