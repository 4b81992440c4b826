"""One conversation out of requests that repeat it: each thing once, whoever asks."""

from __future__ import annotations

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.agents.said import Answer, Said
from passgrid.messages import transcript_of


def user(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def calls(*ids: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("count", {"item": one}, one) for one in ids])


def returns(**answers: str) -> ModelRequest:
    parts: list[ModelRequestPart] = [ToolReturnPart("count", text, one) for one, text in answers.items()]
    return ModelRequest(parts=parts)


def says(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def roles(said: Said) -> list[str]:
    return [message["role"] for message in transcript_of(said.messages)]


def turn(said: Said, messages: list[ModelMessage], response: ModelResponse) -> None:
    said.ask(messages)
    said.answer(response, messages)


def test_a_history_that_grows_is_told_once() -> None:
    said = Said()
    turn(said, [user("hi")], calls("a"))
    turn(said, [user("hi"), calls("a"), returns(a="5")], says("five"))
    turn(said, [user("hi"), calls("a"), returns(a="5"), says("five"), user("and?")], says("nothing"))
    assert roles(said) == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_what_a_client_loses_of_a_turn_changes_nothing() -> None:
    said = Said()
    thinking = ModelResponse(
        parts=[ThinkingPart("hm"), TextPart("one moment "), ToolCallPart("count", '{"item": 1}', "a")]
    )
    sent_back = ModelResponse(parts=[TextPart("one moment"), ToolCallPart("count", {"item": 1.0}, "a")])
    turn(said, [user("hi")], thinking)
    turn(said, [user("hi"), sent_back, returns(a="5")], says("five"))
    assert roles(said) == ["user", "assistant", "tool", "assistant"]


def test_the_same_request_again_says_nothing_new() -> None:
    said = Said()
    turn(said, [user("hi")], says("first"))
    turn(said, [user("hi")], says("second"))
    assert roles(said) == ["user", "assistant", "assistant"]


def test_an_agent_below_has_a_history_of_its_own() -> None:
    said = Said()
    turn(said, [user("big task")], calls("delegate"))
    turn(said, [user("small task")], says("small answer"))
    turn(said, [user("big task"), calls("delegate"), returns(delegate="small answer")], says("done"))
    # The result of the call comes after other turns: no recording has a place for it.
    assert roles(said) == ["user", "assistant", "user", "assistant", "assistant"]


def test_several_system_prompts_are_one() -> None:
    said = Said()
    parts: list[ModelRequestPart] = [SystemPromptPart("Be kind."), SystemPromptPart("Be brief."), UserPromptPart("hi")]
    said.ask([ModelRequest(parts=parts)])
    assert said.system == "Be kind.\n\nBe brief."
    assert roles(said) == ["system", "user"]


def test_the_answer_of_the_server_stands_in_for_what_was_made_of_it() -> None:
    said = Said()
    turn(said, [user("hi")], calls("a", "b"))
    assert said.link("count", {"item": "a"}) == "a"
    said.answered("a", Answer({"n": 5}, failed=False))
    said.ask([user("hi"), calls("a", "b"), returns(a='{"n": 5}', b="own idea")])
    kept = transcript_of(said.messages)[-2:]
    assert [message["content"] for message in kept] == [{"n": 5}, "own idea"]
    assert "told" not in kept[0]


def test_a_text_that_is_not_the_answer_is_kept_beside_it() -> None:
    said = Said()
    turn(said, [user("hi")], calls("a"))
    said.link("count", {"item": "a"})
    said.answered("a", Answer("no such item", failed=True))
    said.ask([user("hi"), calls("a"), returns(a="it failed")])
    message = transcript_of(said.messages)[-1]
    assert (message["content"], message["told"], message["outcome"]) == ("no such item", "it failed", "failed")


def test_equal_calls_of_a_turn_are_linked_one_by_one_and_others_not_at_all() -> None:
    said = Said()
    twice = ModelResponse(parts=[ToolCallPart("count", {"item": "x"}, "a"), ToolCallPart("count", {"item": "x"}, "b")])
    turn(said, [user("hi")], twice)
    assert [said.link("count", {"item": "x"}) for _ in range(3)] == ["a", "b", None]
    assert said.link("count", {"item": "y"}) is None
    assert said.link("order", {"item": "x"}) is None
