"""Methods as they are written on the command line."""

import pytest

from jostle import BruteForce, WideTree
from jostle.errors import InputError
from jostle.lab.methods import all_methods, methods_of, named, with_settings
from jostle.registry import METHODS

pytestmark = pytest.mark.small


def labels(text):
    return [each.label for each in methods_of(text)]


def test_names_and_settings_are_read():
    assert labels("wide_tree") == ["wide_tree"]
    assert labels(" brute_force , wide_tree( build = sah ) ,") == ["brute_force", "wide_tree(build='sah')"]
    assert labels("wide_tree(build='sah'),wide_tree()") == ["wide_tree(build='sah')", "wide_tree"]
    assert methods_of("wide_tree(build=sah)")[0].method == WideTree(build="sah")


def test_a_setting_that_is_the_default_is_not_in_the_label_and_nobody_runs_twice():
    assert labels("wide_tree(build=morton),wide_tree") == ["wide_tree"]


def test_what_a_method_is_asked_stands_among_its_settings():
    (along,) = methods_of("bounding_tree(motion=True, roots=regula_falsi, separation=0.0)")
    assert along.label == "bounding_tree(roots='regula_falsi', motion=True)"
    assert along.options == {"motion": True}
    assert along.method.roots == "regula_falsi"
    assert labels("bounding_tree(motion=False),bounding_tree") == ["bounding_tree"]
    near = methods_of("bounding_tree(separation=0.5, motion=True)")[0]
    assert near.options == {"separation": 0.5, "motion": True}


def test_settings_of_a_sweep_reach_the_methods_that_have_them_under_their_old_labels():
    (along,) = methods_of("bounding_tree(motion=True)")
    changed = with_settings(along, {"degree": 3, "colour": "red"})
    assert (changed.label, changed.options, changed.method.degree) == (along.label, along.options, 3)
    assert along.method.degree is None
    assert with_settings(along, {"colour": "red"}) == along


def test_all_methods_are_those_of_the_registry():
    assert [each.label for each in all_methods()] == list(METHODS)
    assert named(BruteForce()).label == "brute_force"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nobody", ["nobody", "wide_tree"]),
        ("wide_tree(colour=red)", ["wide_tree", "colour", "build"]),
        ("brute_force(build=sah)", ["brute_force", "build", "none"]),
        ("wide_tree(build=pyramid)", ["wide_tree", "build='pyramid'", "morton"]),
        ("wide_tree(build=3)", ["wide_tree", "build=3"]),
        ("wide_tree(build)", ["wide_tree", "'build'", "setting=value"]),
        ("wide_tree(build=)", ["wide_tree", "'build='"]),
        ("wide_tree(build=sah,build=sah)", ["wide_tree", "build", "twice"]),
        ("wide_tree(build=sah", ["not readable"]),
        ("wide_tree)", ["not readable"]),
        ("bounding_tree(motion=perhaps)", ["bounding_tree", "motion", "perhaps"]),
        ("bounding_tree(separation=1.0)", ["bounding_tree", "separation", "motion=True"]),
        ("bounding_tree(motion=True,motion=True)", ["bounding_tree", "motion", "twice"]),
        ("", ["no method"]),
        (" , ", ["no method"]),
        ("wide_tree(build=__import__('os').getcwd())", ["wide_tree", "build", "__import__"]),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(text, words):
    with pytest.raises(InputError) as refused:
        methods_of(text)
    for word in words:
        assert word in str(refused.value)
