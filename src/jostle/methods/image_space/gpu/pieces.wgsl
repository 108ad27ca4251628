// Read by every shader: the pieces of views in one atlas. A piece is a rectangle of a view's tile, and lies in the atlas
// twice, once per role. Written by placing.py.

struct Role {
    x: vec4f,         // to piece x in pixels, from steps relative to `reference`
    y: vec4f,
    z: vec4f,         // depth, 0 … 1
    reference: vec4i, // a point of the body's grid; then 1 where the view mirrors the body
}

struct Piece {
    roles: array<Role, 2>,
    rectangle: vec4u, // width, height, left, top within the tile
    layers: vec4u,    // pixels along a side of the tile, slots per pixel, first counter, first slot
    origin: vec4u,    // texel of the corner of A's picture, of B's
}

struct Round {
    atlas: vec2f, // texels
    first_instance: u32,
    first_piece: u32,
}
