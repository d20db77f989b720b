import { isDeepStrictEqual } from "node:util";
import { abandonOnAbort, CemError, matchTools, showArguments, showName } from "@cem/core";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  AuditLog,
  Elicit,
  InvokeContext,
  JsonValue,
} from "@cem/core";
import { isNamedAsLoss } from "@cem/core/text";
import { auditedValue } from "../audit/audit-calls.ts";
import { questionOf } from "./apply-rules.ts";
import { annotationsOf, checkingGuard, type CallGuard, type GuardedCall } from "./guarded-call.ts";

/** Maximum number of sessions whose answers are remembered. The least recently used one is forgotten first. */
const MAX_SESSIONS = 10_000;
const MAX_SHOWN_CHARACTERS = 1_500;
type Choices = Readonly<Record<string, ApprovalAnswer>>;
/** Answers that apply only to the listed calls. */
const ONCE: Choices = { No: "no", "Yes, this once": "once" };

/** Asks through a client's elicitation: a form with one choice, whose first option is no. */
export function elicitApproval(elicit: Elicit): Approve {
  return (request) => {
    // Anonymous requests have no session, and the next may come from someone else, so an approval ends with its run.
    const lasting = `Yes, for this ${request.session === undefined ? "run" : "session"}`;
    return choose(elicit, describeApproval(request), { ...ONCE, [lasting]: "session" }, request.signal);
  };
}

async function choose(elicit: Elicit, message: string, choices: Choices, signal: AbortSignal) {
  const answer = await elicit({
    server: "cem",
    message,
    signal,
    mode: "form",
    requestedSchema: {
      type: "object",
      properties: { answer: { type: "string", title: "May it?", enum: Object.keys(choices) } },
      required: ["answer"],
    },
  });
  if (answer.action === "cancel") throw new Error(answer.reason ?? "The question was dismissed.");
  if (answer.action !== "accept") return "no";
  const chosen = answer.content?.["answer"];
  return typeof chosen === "string" && Object.hasOwn(choices, chosen) ? (choices[chosen] ?? "no") : "no";
}

type PlannedCall = NonNullable<InvokeContext["planned"]>[number];

/** Maximum number of calls listed in one question. A program with more asks for each call. */
const MAX_PLANNED = 20;

/** Maximum number of characters of a call's arguments in such a question. A call with more is asked about when it is made. */
const MAX_PLANNED_CHARACTERS = MAX_SHOWN_CHARACTERS / 5;

type Answer = ApprovalAnswer | "unanswered";

/** The calls of a program covered by one question. */
interface Plan {
  /** `unasked`: at most one of its tools was not approved before. */
  answer: Answer | "unasked";
  /** Approved calls that were not made yet. */
  left: PlannedCall[];
}

function describePlan(stated: readonly PlannedCall[]): string {
  const lines = stated.map(
    ({ server, tool, args = null }) => `${shownName(server, tool)}: ${visibleArgs(args)}`,
  );
  return `The code names ${stated.length} calls that need a yes, and asks for all of them at once. ${lines.join("; ")}`;
}

/** Describes a call and its arguments, without characters that could deceive the reader. */
export function describeApproval({ server, tool, args, reason }: Omit<ApprovalRequest, "signal">): string {
  return `The code wants to call ${shownName(server, tool)}, and ${visible(reason)}. Its arguments: ${showArguments(args, MAX_SHOWN_CHARACTERS, visibleArgs)}`;
}

function shownName(...parts: string[]): string {
  return parts.map((part) => visible(showName(part))).join(".");
}

function visibleArgs(args: JsonValue): string {
  return visible(JSON.stringify(args, undefined, 1).replaceAll(/\n\s*/g, " "));
}

/** Escapes invisible characters that control how a text is displayed. */
function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

/** How long a question is delayed to collect parallel calls, so that they are asked about together. */
const GATHER_MS = 10;

/** Settings of {@link requireApproval}. */
export interface ApprovalSettings {
  /**
   * The calls that need approval: patterns of tools; `destructive` for tools annotated as destructive, or whose names
   * suggest it if the annotations only say that they change something; `writes` for all tools not annotated as read-only. A
   * pattern after `!` is exempt.
   *
   * @defaultValue `["destructive"]`
   */
  tools?: readonly string[] | undefined;
  /**
   * Whether `destructive` also applies to tools whose code runs in a sandbox.
   *
   * @defaultValue true
   */
  sandboxed?: boolean | undefined;
  /** Asks a person, for calls whose context has no `approve`. */
  approve?: Approve | undefined;
  /** Asks if there is no `approve`, for calls whose context has no `elicit`. Without any of them, calls are refused. */
  elicit?: Elicit | undefined;
  /** Records questions and answers. */
  audit?: AuditLog | undefined;
}

/**
 * Asks a person to approve calls. The run's clock is paused meanwhile. Approval for the session applies to the tool,
 * whatever its arguments. Approval for once applies to this call, or to each call listed in the question. It throws
 * `NOT_APPROVED`.
 */
export function requireApproval(settings: ApprovalSettings = {}): CallGuard {
  const { approve, elicit: ownElicit, audit } = settings;
  const reasonFor = approvalReason(settings);
  /** Approved tools, by session or run. */
  const allowed = new Map<string, Set<string>>();
  const allowedIn = ({ session, run }: InvokeContext): Set<string> => {
    // Without a session, an approval ends with its run.
    const holder = JSON.stringify(session === undefined ? ["run", run ?? null] : ["session", session]);
    const tools = allowed.get(holder) ?? new Set();
    allowed.delete(holder);
    allowed.set(holder, tools);
    const [oldest] = allowed.keys();
    if (allowed.size > MAX_SESSIONS && oldest !== undefined) allowed.delete(oldest);
    return tools;
  };

  const ask = async (call: GuardedCall, context: InvokeContext, reason: string): Promise<Answer> => {
    const { server, tool, args } = call;
    const { session, signal, elicit = ownElicit } = context;
    const annotations = annotationsOf(call);
    const request: ApprovalRequest = { server, tool, args, reason, annotations, session, signal };
    const given = context.approve ?? approve ?? (elicit === undefined ? undefined : elicitApproval(elicit));
    if (given === undefined) return "unanswered";
    return waitForAnswer(context, async () => {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      signal.throwIfAborted();
      const answer = await abandonOnAbort(given(request), signal);
      return answer === "once" || answer === "session" ? answer : "no";
    });
  };

  const record = (
    { server, tool, args = null }: PlannedCall,
    { run, session }: InvokeContext,
    answer: Answer | "earlier",
  ): void =>
    audit?.record({ type: "approval", run, session, server, tool, args: auditedValue(audit, args), answer });

  /** Whether a tool was approved for the session. */
  const isKnown = ({ server, tool }: Pick<GuardedCall, "server" | "tool">, context: InvokeContext): boolean =>
    allowedIn(context).has(JSON.stringify([server, tool]));

  const askAboutPlan = async (planned: readonly PlannedCall[], context: InvokeContext): Promise<Plan> => {
    const { signal, elicit = ownElicit } = context;
    // A person needs to see the arguments, so a call with computed arguments is asked about when it is made.
    const stated =
      elicit === undefined
        ? planned
        : planned.filter(
            ({ args }) => args !== undefined && visibleArgs(args).length <= MAX_PLANNED_CHARACTERS,
          );
    if (stated.filter((call) => !isKnown(call, context)).length < 2) return { answer: "unasked", left: [] };
    const answer = await waitForAnswer(context, async () =>
      elicit === undefined
        ? "unanswered"
        : abandonOnAbort(choose(elicit, describePlan(stated), ONCE, signal), signal),
    );
    for (const call of stated) record(call, context, answer);
    return { answer, left: [...stated] };
  };

  /** Plans by the calls of one program. A repaired program has different calls and is asked about again. */
  const plans = new WeakMap<readonly PlannedCall[], Promise<Plan>>();

  /** Asks about all calls of a program before the first is made. `undefined` if calls are asked about one by one. */
  const planOf = (context: InvokeContext): Promise<Plan> | undefined => {
    const { planned = [] } = context;
    if (planned.length < 2 || planned.length > MAX_PLANNED) return undefined;
    // An `approve` function decides each call by its arguments.
    if ((context.approve ?? approve) !== undefined) return undefined;
    const plan = plans.get(planned) ?? askAboutPlan(planned, context);
    plans.set(planned, plan);
    return plan;
  };

  const requireYes = async (call: GuardedCall, context: InvokeContext, reason: string): Promise<void> => {
    const { server, tool } = call;
    const { answer: planned, left }: Partial<Plan> = (await planOf(context)) ?? {};
    if (planned === "no" || planned === "unanswered") throw notApproved(call, reason, planned);
    // A rule's question depends on the arguments, so an earlier approval does not apply.
    const isAsked = questionOf(call) !== undefined;
    const isEarlier = !isAsked && (isKnown(call, context) || takeFrom(left, call));
    const answer = isEarlier ? "earlier" : await ask(call, context, reason);
    record(call, context, answer);
    if (answer === "no" || answer === "unanswered") throw notApproved(call, reason, answer);
    if (answer === "session") allowedIn(context).add(JSON.stringify([server, tool]));
  };

  return checkingGuard((call, context) => {
    const reason = questionOf(call) ?? reasonFor(call);
    if (reason !== undefined) return requireYes(call, context, reason);
    // Asks before the first call, so that an unapproved program ends before it does anything.
    const { planned = [] } = context;
    return planOf(context)?.then(({ answer }) => {
      if (answer === "no" || answer === "unanswered") throw planNotApproved(planned, call, answer);
      return undefined;
    });
  });
}

/** Waits while a person is asked, with the run's clock paused. */
async function waitForAnswer(context: InvokeContext, asking: () => Promise<Answer>): Promise<Answer> {
  context.onWaiting?.(true);
  try {
    return await asking();
  } catch {
    context.signal.throwIfAborted();
    return "unanswered";
  } finally {
    context.onWaiting?.(false);
  }
}

/** Removes a call with these arguments from those left, so that an approval covers it once. */
function takeFrom(left: PlannedCall[] = [], { server, tool, args }: GuardedCall): boolean {
  const at = left.findIndex((one) =>
    isDeepStrictEqual([one.server, one.tool, one.args], [server, tool, args]),
  );
  return at !== -1 && left.splice(at, 1).length > 0;
}

/** Creates a function that returns why a call needs approval, or `undefined` if it needs none. */
export function approvalReason({
  tools = ["destructive"],
  sandboxed = true,
}: Pick<ApprovalSettings, "tools" | "sandboxed">): (
  call: Pick<GuardedCall, "server" | "tool" | "inCode" | "found">,
) => string | undefined {
  const isExempt = matchTools(
    tools.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1)),
  );
  const isNamed = matchTools(
    tools.filter((pattern) => !pattern.startsWith("!") && pattern !== "destructive" && pattern !== "writes"),
  );
  const destructive = tools.includes("destructive");
  const writes = tools.includes("writes");
  return (call) => {
    if (isExempt(call)) return undefined;
    if (isNamed(call)) return "it is set to need a yes";
    const { readOnlyHint, destructiveHint } = annotationsOf(call);
    if (readOnlyHint === true) return undefined;
    const asksForDestructive = destructive && (sandboxed || call.found?.sandboxed !== true);
    if (asksForDestructive || writes) {
      if (destructiveHint === true) return "its server marks it as destructive";
      // In the protocol, a change counts as destructive unless declared otherwise.
      if (destructiveHint === undefined && readOnlyHint === false && isNamedAsLoss(call.tool))
        return "its server says that it changes something, and its name that something may be lost";
    }
    return writes ? "it may change something" : undefined;
  };
}

const REFUSALS = {
  no: "the answer was no. That is final: do not do it in another way",
  unanswered: "nobody could be asked or nobody answered",
} as const;
type Refusal = keyof typeof REFUSALS;

/** Refuses the first call of a program, which itself needs no approval, because of those that need it. */
function planNotApproved(planned: readonly PlannedCall[], call: GuardedCall, answer: Refusal): CemError {
  const { server, tool } = planned[0] ?? call;
  const names = [...new Set(planned.map((one) => `${one.server}.${one.tool}`))].join(", ");
  const message = `No call of this program was made: ${names} need a yes, and ${REFUSALS[answer]}.`;
  return new CemError("NOT_APPROVED", message, { details: { server, tool, answer } });
}

function notApproved({ server, tool }: PlannedCall, reason: string, answer: Refusal): CemError {
  const message = `${server}.${tool} was not called: ${reason}, and ${REFUSALS[answer]}.`;
  return new CemError("NOT_APPROVED", message, { details: { server, tool, answer } });
}
