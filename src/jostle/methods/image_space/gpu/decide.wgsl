// Decides each piece from the drawn textures: the number of colliding pixels, the first, and the common depths there.
// `common_depths` comes from interval.wgsl, stencil.wgsl or layers.wgsl.

struct Result {
    pixels: atomic<u32>,
    first: atomic<u32>,   // ~0 - the number of the first pixel; 0 without one
    largest: atomic<u32>, // most layers of a body in a pixel
    broken: atomic<u32>,  // pixels whose layers do not close
    near: f32,
    far: f32,
    unused: vec2u,
}

@group(0) @binding(0) var<storage, read> pieces: array<Piece>;
@group(0) @binding(1) var<storage, read_write> results: array<Result>;
@group(0) @binding(2) var<uniform> round: Round;

const NONE = vec2f(2.0, -1.0);
const LANES = 64u;
const PIXELS_IN_GROUP = 1024u;

var<private> largest: u32;
var<private> broken: u32;

var<workgroup> group_pixels: atomic<u32>;
var<workgroup> group_first: atomic<u32>;
var<workgroup> group_largest: atomic<u32>;
var<workgroup> group_broken: atomic<u32>;

@compute @workgroup_size(64)
fn count_pixels(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) { // workgroup memory starts undefined
        atomicStore(&group_pixels, 0u);
        atomicStore(&group_first, 0u);
        atomicStore(&group_largest, 0u);
        atomicStore(&group_broken, 0u);
    }
    workgroupBarrier();
    let piece = round.first_piece + group.y;
    let rectangle = pieces[piece].rectangle;
    let side = pieces[piece].layers.x;
    let begin = group.x * PIXELS_IN_GROUP;
    let end = min(begin + PIXELS_IN_GROUP, rectangle.x * rectangle.y);
    var pixels = 0u;
    var first = 0u;
    largest = 0u;
    broken = 0u;
    for (var k = begin + lane; k < end; k += LANES) {
        let at = vec2u(k % rectangle.x, k / rectangle.x);
        let shared_depths = common_depths(piece, at);
        if (shared_depths.x <= shared_depths.y) {
            pixels += 1u;
            first = max(first, 0xffffffffu - ((rectangle.w + at.y) * side + rectangle.z + at.x));
        }
    }
    atomicAdd(&group_pixels, pixels);
    atomicMax(&group_first, first);
    atomicMax(&group_largest, largest);
    atomicAdd(&group_broken, broken);
    workgroupBarrier();
    if (lane == 0u) {
        atomicAdd(&results[piece].pixels, atomicLoad(&group_pixels));
        atomicMax(&results[piece].first, atomicLoad(&group_first));
        atomicMax(&results[piece].largest, atomicLoad(&group_largest));
        atomicAdd(&results[piece].broken, atomicLoad(&group_broken));
    }
}

@compute @workgroup_size(1)
fn look_at_first(@builtin(workgroup_id) group: vec3u) {
    let piece = round.first_piece + group.x;
    let first = atomicLoad(&results[piece].first);
    if (first != 0u) {
        let rectangle = pieces[piece].rectangle;
        let side = pieces[piece].layers.x;
        let number = 0xffffffffu - first;
        let shared_depths = common_depths(piece, vec2u(number % side, number / side) - rectangle.zw);
        results[piece].near = shared_depths.x;
        results[piece].far = shared_depths.y;
    }
}
