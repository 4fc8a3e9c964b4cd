"""get_fix_context_batch: context packs for up to 20 findings."""

from dataclasses import dataclass, replace

from appsecgate.context import ContextPack, build_pack, find
from appsecgate.errors import UnknownFindingError
from appsecgate.session import Session
from appsecgate.shown import filled
from appsecgate.tools.base import Call, Tool
from appsecgate.typed import arg

MAX_BATCH = 20


@dataclass(frozen=True, slots=True)
class GetFixContextBatchInput:
    finding_ids: tuple[str, ...] = arg(
        "Logical ids or fingerprints.", min_items=1, max_items=MAX_BATCH, unique=True,
        example=["0123456789abcdef", "fedcba9876543210"],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemError:
    finding_id: str = arg("The id as it was given.")
    error: str = arg("What is wrong with it and what to do.")


@dataclass(frozen=True, slots=True)
class ContextPacks:
    packs: tuple[ContextPack, ...] = arg("One pack per known finding, in the order asked for.")
    errors: tuple[ItemError, ...] = arg("Ids that could not be answered.")
    truncated: bool = arg("Whether packs were left out for size; ask for the ids in not_included.")
    not_included: tuple[str, ...] = arg("Ids whose packs did not fit.")


def get_fix_context_batch(call: Call[Session], request: GetFixContextBatchInput) -> ContextPacks:
    """An unknown id is an error of that item alone. Marks the findings whose packs are returned as shown."""
    session = call.session
    redactor = session.redactor()
    packs: dict[str, ContextPack] = {}  # by logical id: one that is named by id and by fingerprint is said once
    errors: list[ItemError] = []
    with session.store.read() as reader:
        for finding_id in request.finding_ids:
            call.cancel.check()
            try:
                stored = find(reader, session.project_id, finding_id)
            except UnknownFindingError as error:
                errors.append(ItemError(finding_id[:200], error.explain()))
                continue
            if stored.finding.logical_id not in packs:
                packs[stored.finding.logical_id] = build_pack(session, reader, redactor, stored)
    ids = tuple(packs)
    answer = filled(ContextPacks((), tuple(errors), truncated=False, not_included=ids), "packs", [*packs.values()])
    count = len(answer.packs)
    ids, left_out = ids[:count], ids[count:]
    with session.store.write() as writer:
        writer.mark_shown(session.project_id, ids, session.now())
        writer.mark_context(session.project_id, ids, session.now())
    return replace(answer, truncated=bool(left_out), not_included=left_out)


GET_FIX_CONTEXT_BATCH = Tool(
    name="get_fix_context_batch",
    title="Context for several fixes",
    description=(
        "Context packs (see get_fix_context) for 1 to 20 findings in one call. More than 20, none, or the same id "
        "twice is refused whole; an unknown id is an error of that item alone. Packs that do not fit into one "
        "result are named in not_included."
    ),
    input=GetFixContextBatchInput,
    output=ContextPacks,
    call=get_fix_context_batch,
    summary="show what is needed to fix several findings",
    read_only=False,
    idempotent=True,
)
