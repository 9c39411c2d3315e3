"""The names of the schemas in the OpenAPI document.

Generated clients make a type of each name, so that it has to say what the thing is to somebody who
does not know the code. There a class is often named after its part (`CampaignOut` beside the model
`Campaign`); here the row itself has the plain name, what creates it ends in `Create`, what changes
it in `Change`, and a model's arguments in `Arguments`. A class that is not listed keeps its name,
without `Out`; every other exception is an error of `schema_name`.
"""

from typing import Any

PREFIX = "#/components/schemas/"
NAMES = {
    # the site
    "RestorationIn": "RestorationCreate",
    "ThreadProposalIn": "ThreadProposalRequest",
    "TextReadingOut": "TextReading",
    "FactProposalOut": "FactProposal",
    "DraftIn": "DraftCreate",
    "LoreFilterIn": "LoreFilter",
    "SavedFilterIn": "SavedFilterCreate",
    # worlds
    "CalendarPut": "CalendarWrite",
    "CalendarVersions": "CalendarVersionList",
    "CampaignIn": "CampaignCreate",
    "DateOut": "CalendarDate",
    "DateSpanOut": "CalendarDateSpan",
    "Era": "CalendarEra",
    "Festival": "CalendarFestival",
    "LeapRule": "CalendarLeapRule",
    "Month": "CalendarMonth",
    "Moon": "CalendarMoon",
    "MoonOut": "CalendarMoonPhase",
    "Season": "CalendarSeason",
    "Campaigns": "CampaignPage",
    "CharacterIn": "CharacterCreate",
    "CharacterOut": "Character",
    "Characters": "CharacterPage",
    "EventOut": "Event",
    "Events": "EventPage",
    "InvitationIn": "InvitationCreate",
    "KeyIn": "ApiKeyCreate",
    "KeyList": "ApiKeyList",
    "KeyOut": "ApiKey",
    "WebhookIn": "WebhookCreate",
    "WebhookOut": "Webhook",
    "DeliveryOut": "Delivery",
    "AttemptOut": "DeliveryAttempt",
    "Me": "OwnKey",
    "Parties": "PartyPage",
    "PartyIn": "PartyCreate",
    "ProblemOut": "Problem",
    "RevealEntryIn": "RevealCreate",
    "RevealEntryOut": "Reveal",
    "RevealLog": "RevealPage",
    "SystemIn": "GameSystemCreate",
    "SystemOut": "GameSystem",
    "Systems": "GameSystemList",
    "WorldIn": "WorldCreate",
    "Worlds": "WorldPage",
    # knowledge
    "Assertion": "LoreAssertArguments",
    "CommentIn": "CommentCreate",
    "ContradictionOut": "Contradiction",
    "EdgeFact": "RelationToWrite",
    "EdgeOut": "Relation",
    "EdgeSource": "RelationSource",
    "FactOut": "Fact",
    "GmHitOut": "GmSearchHit",
    "GraphFact": "FactToWrite",
    "HitOut": "SearchHit",
    "LegOut": "SearchLeg",
    "LoreIn": "LoreDraft",
    "LoreOut": "Lore",
    "LoreQuestion": "LoreSearchArguments",
    "NearMissOut": "NearMiss",
    "NodeFact": "EntityToWrite",
    "NodeKind": "EntityKind",
    "NodeOut": "Entity",
    "ProposalIn": "LoreProposalCreate",
    "ProposalOut": "LoreProposalReceipt",
    "ProposalPage": "LoreProposalPage",
    "ProposalRow": "LoreProposal",
    "RuleOut": "Rule",
    "RulesQuestion": "RulesLookupArguments",
    "SourceOut": "HitSource",
    "Triple": "Statement",
    "UpsertResult": "FactReport",
    # episodes
    "ConsolidateIn": "ThreadConsolidation",
    "EpisodeIn": "EpisodeCreate",
    "EpisodeOut": "Episode",
    "EpisodesIn": "EpisodeBatch",
    "LooseEndOut": "LooseEnd",
    "NoteIn": "NoteCreate",
    "NoteOut": "Note",
    "Proposal": "EpisodeProposal",
    "ReportIn": "SessionReportCreate",
    "RetractionIn": "EpisodeRetraction",
    "SceneIn": "SceneWrite",
    "ScratchIn": "ScratchWrite",
    "SessionFetch": "SessionFetchArguments",
    "SessionFetched": "PartyHistory",
    "SessionIn": "SessionWrite",
    "StepIn": "ThreadStepCreate",
    "StepOut": "ThreadStep",
    "StepsIn": "ThreadAppend",
    "When": "EpisodeTimeWrite",
    "WhenOut": "EpisodeTime",
    "Who": "EpisodePeople",
    # npcs
    "Apparent": "ApparentDisposition",
    "CorrectionIn": "DispositionCorrection",
    "DispositionOut": "Disposition",
    "DispositionRulesIn": "DispositionRulesWrite",
    "DispositionRulesOut": "DispositionRules",
    "Influence": "DispositionChange",
    "InfluenceList": "DispositionChangeList",
    "NPCMergeIn": "NPCMergeCreate",
    "NPCMergeOut": "NPCMerge",
    "NPCUpsertOut": "NPCWritten",
    "OpinionEntry": "OpinionChange",
    "OpinionIn": "OpinionCorrection",
    "OpinionOut": "Opinion",
    "OpinionRulingIn": "OpinionRuling",
    "StandingIn": "StandingCorrection",
    "StandingOut": "Standing",
    "NPCsIn": "NPCBatch",
    "RememberingProfileAsk": "NPCProfileArguments",
    "RulingIn": "DispositionRuling",
    "SecretIn": "NPCSecret",
    "RelativeIn": "NPCRelative",
    # art
    "ArtAsk": "ArtSuggestArguments",
    "ArtCardOut": "ArtCard",
    "ArtCardsIn": "ArtCardBatch",
    "ArtUpsertOut": "ArtCardWritten",
    "ModerationIn": "ArtModeration",
    "PicturePlaceIn": "PicturePlacement",
    "PictureOut": "Picture",
    # memories
    "AddIn": "MemoryCreate",
    "AddOut": "MemoryReceipt",
    "ArchivalInsertAsk": "ArchivalMemoryInsertArguments",
    "ArchivalSearchAsk": "ArchivalMemorySearchArguments",
    "Bucket": "MemoryBucket",
    "BugMatchIn": "BugMatchQuestion",
    "BugPatternOut": "BugPattern",
    "ChangeOut": "MemoryStateChange",
    "CodePatternOut": "CodePattern",
    "CodeRuleCleanupIn": "CodeRuleCleanup",
    "CodeRuleOut": "CodeRule",
    "CodeRuleOutcomeIn": "CodeRuleOutcome",
    "ConversationSearchAsk": "ConversationSearchArguments",
    "CoreAnswer": "CoreMemoryChange",
    "CoreAppendAsk": "CoreMemoryAppendArguments",
    "CoreDiffOut": "CoreMemoryDiff",
    "CoreEvidence": "CoreMemoryEvidence",
    "CoreLineOut": "CoreMemoryLine",
    "CoreOut": "CoreMemory",
    "CoreProposalOut": "CoreMemoryProposal",
    "CoreReplaceAsk": "CoreMemoryReplaceArguments",
    "CoreVersionOut": "CoreMemoryVersion",
    "CoreWriteIn": "CoreMemoryWrite",
    "EditIn": "MemoryEdit",
    "EpisodeMatchOut": "TaskEpisodeMatch",
    "EpisodeSearchIn": "TaskEpisodeSearch",
    "EraseIn": "MemoryErasure",
    "ErrorLookupAsk": "ErrorLookupArguments",
    "EventAnswer": "MemoryEventAnswer",
    "EventAsk": "MemoryEventArguments",
    "EventIn": "MemoryEvent",
    "EventsIn": "MemoryEventBatch",
    "ExplanationOut": "SearchExplanation",
    "FilterIn": "MemoryFilter",
    "FactSource": "EvidenceSource",
    "HealthOut": "MemoryHealth",
    "HistoryOut": "MemoryHistory",
    "InsertAnswer": "ArchivalMemoryInsertAnswer",
    "KnowledgeAsk": "KnowledgeForTaskArguments",
    "KnowledgeIn": "TaskKnowledgeQuestion",
    "KnowledgeOut": "TaskKnowledge",
    "LinkOut": "MemoryLink",
    "LineMemoryOut": "CoreMemoryLineSource",
    "MergedOut": "MemoryMergeByRules",
    "MemoryOut": "Memory",
    "MemoryQueryAsk": "MemoryAskArguments",
    "MemoryReviseAsk": "MemoryReviseArguments",
    "MergeIn": "MemoryMerge",
    "MessageIn": "MessageCreate",
    "MessageOut": "MessageReceipt",
    "NearMemoryOut": "SimilarMemory",
    "OutcomeOut": "MemoryEventOutcome",
    "PatchIn": "CodeChange",
    "PendingOut": "PendingMemory",
    "QueryIn": "MemoryQuery",
    "QueryOut": "MemoryQueryResult",
    "ReasonIn": "Reason",
    "ReceiptOut": "ErasureReceipt",
    "ReviewDecisionIn": "ReviewDecision",
    "ReviewResultOut": "ReviewResult",
    "ScoredMemoryOut": "ScoredMemory",
    "SearchIn": "MemorySearch",
    "SearchOut": "MemorySearchResult",
    "SplitIn": "MemorySplit",
    "TaskAnswer": "TaskProgress",
    "TellAnswer": "MemoryTellAnswer",
    "TellAsk": "MemoryTellArguments",
    "TellerOut": "Teller",
    "TellingIn": "TellingCreate",
    "TellingOut": "Telling",
    "TaskBeginAsk": "TaskBeginArguments",
    "TaskCloseAsk": "TaskCloseArguments",
    "TaskConsolidateIn": "TaskConsolidation",
    "TaskDecisionIn": "TaskDecisionCreate",
    "TaskHypothesisIn": "TaskHypothesisCreate",
    "TaskIn": "TaskBegin",
    "TaskNoteAsk": "TaskNoteArguments",
    "TaskStepIn": "TaskStepCreate",
    "TaskTrackIn": "TaskTrack",
    # tools
    "Form": "ToolSchemaForm",
    "OpenAITools": "ToolSchemaList",
    "Profile": "ToolProfile",
}


def schema_name(class_name: str) -> str:
    """Return the name in the document; raises `ValueError` for one that says nothing to clients."""
    name = NAMES.get(class_name) or class_name.removesuffix("Out")
    if name.endswith(("In", "Ask", "Out")) or name[-1].isdigit():
        raise ValueError(f"Give {class_name} a name for clients in {__name__}.")
    return name


def rename_schemas(document: dict[str, Any]) -> None:
    """Give the schemas of `document` their names, and drop those that nothing refers to (what
    django-ninja keeps of the classes of query parameters)."""
    schemas = document["components"]["schemas"]
    used = reachable_schemas(document["paths"], schemas)
    renamed = {schema_name(old): schema for old, schema in schemas.items() if old in used}
    if len(renamed) < len(used):
        raise ValueError("Two schemas have one name.")
    document["components"]["schemas"] = dict(sorted(renamed.items()))
    for node in walk([document["paths"], renamed]):
        if str(node.get("$ref", "")).startswith(PREFIX):
            node["$ref"] = PREFIX + schema_name(node["$ref"].removeprefix(PREFIX))
    for name, schema in renamed.items():
        schema["title"] = name


def reachable_schemas(start: Any, schemas: dict[str, Any]) -> set[str]:
    """Return the names of the schemas that `start`, a part of the document, refers to, at any
    depth."""
    found: set[str] = set()
    waiting: list[Any] = [start]
    while waiting:
        for node in walk(waiting.pop()):
            name = str(node.get("$ref", "")).removeprefix(PREFIX)
            if name in schemas and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def walk(node: Any) -> Any:
    """Yield every object in `node`, once even where two places share it."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
