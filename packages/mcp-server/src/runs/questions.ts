import { randomUUID } from "node:crypto";
import { MAX_TIMER_MS, nobodyAsked, roughSize, showWholeWords } from "@cem/core";
import type { Elicit, ElicitAnswer, ElicitRequest, JsonObject, Sample } from "@cem/core";
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputRequiredResult,
  type ServerContext,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { MAX_OPEN_QUESTIONS, MAX_OPEN_QUESTIONS_CHARACTERS, MAX_QUESTION_CHARACTERS } from "../limits.ts";

type SampleRequest = Parameters<Sample>[0];

/** The answer if a run can't be kept until its user has answered. */
const NOBODY_WAITS = nobodyAsked("too many other runs wait for answers");
/** The answer if the client can't ask its user. */
const NO_USER = nobodyAsked("the client can't ask its user");

/** The answer when a client has too many open questions. */
const TOO_MUCH_ASKED = nobodyAsked(
  `at most ${MAX_OPEN_QUESTIONS} questions of a run wait for answers, with ${MAX_OPEN_QUESTIONS_CHARACTERS} characters altogether`,
);

/** The reason sent to a client for a withdrawn question, whatever the upstream server's reason. */
const NO_LONGER_ASKED = "The question is no longer asked.";
/** The answer if the client offers no model. */
const NO_MODEL = { action: "cancel", reason: "The client offers no model." } as const;

type Content = NonNullable<(ElicitAnswer & { action: "accept" })["content"]>;

/** A request of a tool's server to the client: a question to its user (elicitation), or a completion by its model (sampling). */
export type Question = ElicitRequest | (SampleRequest & { mode: "sample" });
export type Answer = ElicitAnswer | { action: "sampled"; result: JsonObject };

/** Questions and answers by their keys. */
export type Questions = ReadonlyMap<string, Question>;
export type Answers = ReadonlyMap<string, Answer>;

/** The unanswered questions that the tools of one run asked its client. */
export class OpenQuestions {
  readonly #open = new Map<
    string,
    { request: Question; characters: number; resolve: (answer: Answer) => void }
  >();
  #characters = 0;
  #isCancelling = false;
  #arrived = Promise.withResolvers<void>();
  /** Called after a question was opened or closed. */
  onChange: (() => void) | undefined;

  readonly elicit: Elicit = async (request) => {
    const message = showWholeWords(request.message, MAX_QUESTION_CHARACTERS);
    const answer = await this.#ask({ ...request, message });
    return answer.action === "sampled" ? { action: "cancel" } : answer;
  };

  readonly sample: Sample = async (request) => {
    const answer = await this.#ask({ ...request, mode: "sample" });
    if (answer.action === "sampled") return answer.result;
    const reason = answer.action === "cancel" ? answer.reason : undefined;
    throw new Error(reason ?? "The client's user refused.");
  };

  async #ask(request: Question): Promise<Answer> {
    if (this.#isCancelling) return NOBODY_WAITS;
    request.signal.throwIfAborted();
    // Limited, since a server may ask without end, and each question is kept until it is answered. A single one may be as
    // large as a message.
    const characters = roughSize(request, MAX_OPEN_QUESTIONS_CHARACTERS);
    const isTooMuch = this.#characters + characters > MAX_OPEN_QUESTIONS_CHARACTERS;
    if (this.size > 0 && (isTooMuch || this.size >= MAX_OPEN_QUESTIONS)) return TOO_MUCH_ASKED;
    const key = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const giveUp = (): void => {
      this.#close(key);
      reject(request.signal.reason);
    };
    request.signal.addEventListener("abort", giveUp, { once: true });
    this.#open.set(key, { request, characters, resolve });
    this.#characters += characters;
    this.#arrived.resolve();
    this.onChange?.();
    try {
      return await promise;
    } finally {
      request.signal.removeEventListener("abort", giveUp);
    }
  }

  get size(): number {
    return this.#open.size;
  }

  get all(): Questions {
    return new Map([...this.#open].map(([key, { request }]) => [key, request]));
  }

  /** Resolves when there is an unanswered question. */
  get arrival(): Promise<void> {
    return this.#arrived.promise;
  }

  /** Answers open questions. Answers to others are ignored. */
  answer(answers: Answers): void {
    for (const [key, answer] of answers) this.#close(key)?.(answer);
  }

  /** Cancels all open questions, and all later ones. */
  cancelAll(): void {
    this.#isCancelling = true;
    for (const key of this.#open.keys()) this.#close(key)?.(NOBODY_WAITS);
  }

  /** Removes a question from the open ones and returns the function that answers it. */
  #close(key: string): ((answer: Answer) => void) | undefined {
    const question = this.#open.get(key);
    if (question === undefined) return undefined;
    this.#open.delete(key);
    this.#characters -= question.characters;
    this.onChange?.();
    if (this.size === 0) this.#arrived = Promise.withResolvers();
    return question.resolve;
  }
}

/**
 * Returns the questions as an `input_required` answer (protocol 2026-07-28). The client repeats the call with its user's
 * answers.
 *
 * @param state - Identifies the run when the call is repeated.
 */
export function askLater(questions: Questions, state: string): InputRequiredResult {
  const inputRequests: Record<string, InputRequest> = {};
  for (const [key, request] of questions) inputRequests[key] = inputRequestOf(request);
  return inputRequired({ inputRequests, requestState: state });
}

function inputRequestOf(request: Question): InputRequest {
  if (request.mode === "sample") return inputRequired.createMessage(paramsOf(request));
  const message = worded(request);
  if (request.mode === "url") return inputRequired.elicitUrl({ message, url: request.url });
  return inputRequired.elicit({ message, requestedSchema: schemaOf(request) });
}

/** The `state` of the answer that this call repeats, if it repeats one. */
export function stateOf({ mcpReq }: ServerContext): string | undefined {
  const state = mcpReq.requestState();
  return typeof state === "string" ? state : undefined;
}

/** The user's answers in a repeated call. */
export function readAnswers(questions: Questions, { mcpReq }: ServerContext): Answers {
  const answers = new Map<string, Answer>();
  for (const [key, request] of questions) {
    const response = inputResponse(mcpReq.inputResponses, key);
    if (response.kind === "sampling" && request.mode === "sample") {
      answers.set(key, { action: "sampled", result: response.result as unknown as JsonObject });
    }
    if (response.kind !== "elicit" || request.mode === "sample") continue;
    if (response.action !== "accept" || request.mode === "url") answers.set(key, { action: response.action });
    else {
      // Content that does not fit the question's schema counts as cancelled.
      const content = acceptedContent(mcpReq.inputResponses, key, checkOf(request));
      answers.set(key, content === undefined ? { action: "cancel" } : { action: "accept", content });
    }
  }
  return answers;
}

/** Gets the client's answers to questions during its call; `undefined` if they have to be asked by {@link askLater}. */
export async function answersTo(questions: Questions, context: ServerContext): Promise<Answers | undefined> {
  if (context.mcpReq.envelope === undefined) return askNow(questions, context);
  const unaskable = cancelUnaskable(questions, context);
  return unaskable.size === 0 ? undefined : unaskable;
}

/** Asks during the call (protocol 2025-11-25 and older). Cancels if the client can't ask its user. */
async function askNow(questions: Questions, { mcpReq }: ServerContext): Promise<Answers> {
  // Sent on the stream of the call, since a client need not listen to another.
  // A question has its own deadline.
  const options = { timeout: MAX_TIMER_MS, relatedRequestId: mcpReq.id };
  const ask = async (request: Question): Promise<Answer> => {
    // The reason is sent to the client, which must not see the reason of another cancellation.
    const question = new AbortController();
    const { signal } = question;
    const giveUp = (): void => question.abort(NO_LONGER_ASKED);
    const ended = AbortSignal.any([mcpReq.signal, request.signal]);
    if (ended.aborted) giveUp();
    ended.addEventListener("abort", giveUp, { once: true });
    if (request.mode === "sample") return sampleNow(request, signal);
    const message = worded(request);
    const params =
      request.mode === "url"
        ? ({ mode: "url", message, url: request.url, elicitationId: randomUUID() } as const)
        : ({ mode: "form", message, requestedSchema: schemaOf(request) } as const);
    try {
      const { action, content } = await mcpReq.elicitInput(params, { ...options, signal });
      return content === undefined || action !== "accept" ? { action } : { action, content };
    } catch {
      mcpReq.signal.throwIfAborted();
      return NO_USER;
    }
  };
  const sampleNow = async (request: SampleRequest, signal: AbortSignal): Promise<Answer> => {
    try {
      const result = await mcpReq.requestSampling(paramsOf(request), { ...options, signal });
      return { action: "sampled", result: result as unknown as JsonObject };
    } catch (error) {
      mcpReq.signal.throwIfAborted();
      const isOwn =
        error instanceof ProtocolError && error.code !== (ProtocolErrorCode.MethodNotFound as number);
      // The client's own error is more informative.
      return isOwn ? { action: "cancel", reason: `The client refused: ${error.message}` } : NO_MODEL;
    }
  };
  const asked = [...questions].map(async ([key, request]) => [key, await ask(request)] as const);
  return new Map(await Promise.all(asked));
}

/** Cancels the questions of a kind that the client can't ask its user or its model. */
function cancelUnaskable(questions: Questions, { mcpReq }: ServerContext): Answers {
  const { elicitation, sampling } = capabilitiesIn(mcpReq) ?? {};
  const modes = modesOf(elicitation);
  const answers = new Map<string, Answer>();
  for (const [key, { mode }] of questions) {
    if (mode === "sample") {
      if (sampling === undefined) answers.set(key, NO_MODEL);
    } else if (modes?.[mode] === undefined) answers.set(key, NO_USER);
  }
  return answers;
}

/**
 * Whether the client of a call can show a form to its user.
 *
 * @param connected - The capabilities that a client of 2025-11-25 or older declared when it connected.
 * @returns `undefined` if unknown.
 */
export function canAskUser(
  { mcpReq }: ServerContext,
  connected: ClientCapabilities | undefined,
): boolean | undefined {
  const capabilities = mcpReq.envelope === undefined ? connected : capabilitiesIn(mcpReq);
  return capabilities && modesOf(capabilities.elicitation)?.form !== undefined;
}

function capabilitiesIn({ envelope }: ServerContext["mcpReq"]): ClientCapabilities | undefined {
  // The SDK's types leave the envelope's members open.
  const open: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities | undefined } = envelope ?? {};
  return open[CLIENT_CAPABILITIES_META_KEY];
}

/** According to the specification, an empty declaration means forms. */
function modesOf(declared: ClientCapabilities["elicitation"]): ClientCapabilities["elicitation"] {
  return declared === undefined || Object.keys(declared).length > 0 ? declared : { form: {} };
}

/** Adds the name of the asking server, since clients attribute the message to this server. */
function worded({ server, message }: ElicitRequest): string {
  return `${server} asks: ${message}`;
}

function paramsOf({ params }: SampleRequest): CreateMessageRequestParams {
  return params as unknown as CreateMessageRequestParams;
}

function schemaOf(request: ElicitRequest & { mode: "form" }): ElicitRequestFormParams["requestedSchema"] {
  return request.requestedSchema as ElicitRequestFormParams["requestedSchema"];
}

function checkOf(request: ElicitRequest & { mode: "form" }): StandardSchemaWithJSON<Content, Content> {
  return fromJsonSchema<Content>(request.requestedSchema);
}

/** Explains why an answer does not fit the schema of its question; `undefined` if it fits. */
export async function faultOf(answer: ElicitAnswer, request: ElicitRequest): Promise<string | undefined> {
  if (answer.action !== "accept" || request.mode === "url") return undefined;
  const checked = await checkOf(request)["~standard"].validate(answer.content ?? {});
  return checked.issues?.map(({ message }) => message).join("; ");
}
