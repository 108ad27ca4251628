// All layers of both bodies, sorted by depth: solids are the intervals where the winding number is not 0.

@group(1) @binding(0) var<storage, read_write> counts: array<u32>;
@group(1) @binding(1) var<storage, read_write> slots: array<u32>;

fn common_depths(piece: u32, at: vec2u) -> vec2f {
    let rectangle = pieces[piece].rectangle;
    let layers = pieces[piece].layers;
    let pixel_a = at.y * rectangle.x + at.x;
    let pixel_b = pixel_a + rectangle.x * rectangle.y;
    let count_a = counts[layers.z + pixel_a];
    let count_b = counts[layers.z + pixel_b];
    if (count_a == 0u || count_b == 0u) {
        return NONE;
    }
    largest = max(largest, max(count_a, count_b));
    if (max(count_a, count_b) > layers.y) {
        return NONE; // drawn again with more slots: see `largest`
    }
    let first_a = layers.w + pixel_a * layers.y;
    let first_b = layers.w + pixel_b * layers.y;
    if (winding_after_sorting(first_a, count_a) != 0 || winding_after_sorting(first_b, count_b) != 0) {
        broken += 1u; // an edge so near to the centre that one of its faces was not drawn there
        return NONE;
    }
    return first_common(first_a, count_a, first_b, count_b);
}

fn side_of(layer: u32) -> i32 {
    return select(1, -1, (layer & 1u) == 1u);
}

fn depth_of(layer: u32) -> f32 {
    return bitcast<f32>(layer >> 1u);
}

// Sort `count` layers from `first` by depth; return the sum of their sides.
fn winding_after_sorting(first: u32, count: u32) -> i32 {
    var winding = 0;
    for (var k = 0u; k < count; k += 1u) {
        let layer = slots[first + k];
        winding += side_of(layer);
        var to = first + k;
        while (to > first && slots[to - 1u] > layer) {
            slots[to] = slots[to - 1u];
            to -= 1u;
        }
        slots[to] = layer;
    }
    return winding;
}

// Return the next interval of a body from layer `at` on, and move `at` behind it.
fn next_interval(first: u32, count: u32, at: ptr<function, u32>) -> vec2f {
    if (*at >= count) {
        return NONE;
    }
    let begin = slots[first + *at];
    var end = begin;
    var winding = side_of(begin);
    *at += 1u;
    while (winding != 0 && *at < count) {
        end = slots[first + *at];
        winding += side_of(end);
        *at += 1u;
    }
    return vec2f(depth_of(begin), depth_of(end));
}

fn first_common(first_a: u32, count_a: u32, first_b: u32, count_b: u32) -> vec2f {
    var at_a = 0u;
    var at_b = 0u;
    var a = next_interval(first_a, count_a, &at_a);
    var b = next_interval(first_b, count_b, &at_b);
    while (a.x <= a.y && b.x <= b.y) {
        let shared_depths = vec2f(max(a.x, b.x), min(a.y, b.y));
        if (shared_depths.x <= shared_depths.y) {
            return shared_depths;
        }
        if (a.y < b.y) {
            a = next_interval(first_a, count_a, &at_a);
        } else {
            b = next_interval(first_b, count_b, &at_b);
        }
    }
    return NONE;
}
