from dashboard.arm_names import full_name, short_names
from passgrid.report.facts import ArmName


def arm(**axes: str) -> ArmName:
    return ArmName("0123456789abcdef", "nightly", "replay", axes.pop("model", "recorded:small"), "plain", **axes)


def test_an_arm_alone_is_named_by_its_model_and_a_chosen_agent() -> None:
    assert short_names([arm()]) == ["recorded:small"]
    assert short_names([arm(target="staging")]) == ["recorded:small"]
    assert short_names([arm(agent="shell")]) == ["recorded:small · agent shell"]


def test_arms_are_named_by_what_they_differ_in() -> None:
    names = short_names([arm(agent="default"), arm(agent="shell"), arm(model="recorded:large", agent="typescript")])
    assert names == [
        "recorded:small · agent default",
        "recorded:small · agent shell",
        "recorded:large · agent typescript",
    ]
    assert short_names([arm(), arm(target="staging")]) == [
        "recorded:small · target default",
        "recorded:small · target staging",
    ]


def test_the_agent_stands_where_a_narrow_screen_still_shows_it() -> None:
    assert full_name(arm(agent="shell")) == "recorded:small · agent shell · plain · nightly · replay · 01234567"
