import { brokenTokenIn, CemError, matchTools, redactionTokensIn } from "@cem/core";
import type { ApprovalAnswer, FailedTool, JsonValue, Redactor, ToolCall } from "@cem/core";
import { isEscapedInJson, mapJson, readString } from "./embedded-data.ts";
import { mapLeaves } from "./json-walk.ts";
import { printedValues, readingsOf } from "./readings.ts";
import { MAX_DECODED, MIN_NUMBER, MIN_TEXT_CHARACTERS, type ValueFinder } from "./value-finder.ts";
import type { Vault, VaultEntry } from "./vault.ts";

/** The call whose tokens are replaced. */
type RedactionTarget = Parameters<Redactor["detokenize"]>[1];

/** A rule for the flow of values. */
export interface FlowRule {
  /** A server, tools (`server.tool`, `server.read_*`), or a type of value (`EMAIL`). Default: anywhere. */
  from?: string | undefined;
  /** A server or tools. Default: anywhere. */
  to?: string | undefined;
  action: FlowAction;
}

export type FlowAction = "allow" | "deny" | "ask";

/** Finds the names that a tool has in code. `undefined`: it has no others. */
export type FindNameInCode = (tool: FailedTool) => Promise<FailedTool | undefined>;

/** A tool, with its names in code. */
type Place = Omit<ToolCall, "args">;

/** A flow of a value from one `server.tool` to another. */
type Flow = Record<"type" | "from" | "to", string>;

/** Creates a matcher for tools. Names of servers may contain dots, which separate server and tool in other patterns. */
function matchPlace(pattern = "*"): (place: Place) => boolean {
  const isMeant = matchTools([pattern]);
  return (place) => isMeant(place) || pattern === place.server || pattern === place.inCode?.server;
}

/** The server of `server.tool`. Server names may contain dots, tool names in code don't. */
function serverOf(place: string): string {
  const dot = place.lastIndexOf(".");
  return dot === -1 ? place : place.slice(0, dot);
}

/** Creates the check of flow rules for one session. */
function createFlowCheck(rules: readonly FlowRule[], findNameInCode: FindNameInCode = async () => undefined) {
  const compiled = rules.map(({ from, to, action }) => ({
    action,
    type: from,
    isFrom: matchPlace(from),
    isTo: matchPlace(to),
  }));
  /** Answers of the user, by flow. */
  const answers = new Map<string, Promise<ApprovalAnswer | undefined>>();

  /** Splits `server.tool`. At a configured server, the tool may contain dots as well. */
  async function placeOf(origin: string): Promise<Place> {
    for (let dot = origin.lastIndexOf("."); dot > 0; dot = origin.lastIndexOf(".", dot - 1)) {
      const named = { server: origin.slice(0, dot), tool: origin.slice(dot + 1) };
      const inCode = await findNameInCode(named);
      if (inCode !== undefined) return { ...named, inCode };
    }
    const server = serverOf(origin);
    return { server, tool: origin.slice(server.length + 1) };
  }

  /**
   * Decides whether values may flow to a tool. The first matching rule applies. If none matches, values may only flow back
   * to the server that they came from, which discloses nothing new.
   */
  function decide(type: string, from: Place, to: Place): FlowAction {
    const rule = compiled.find((one) => one.isTo(to) && (one.isFrom(from) || one.type === type));
    if (rule !== undefined) return rule.action;
    const servers =
      from.inCode === undefined ? [to.server, serverOf(`${to.server}.${to.tool}`)] : [to.server];
    return servers.includes(from.server) ? "allow" : "deny";
  }

  /** Asks once per flow and type. Only a no and a yes for the session apply to the next call. */
  async function askOnce(flow: Flow, target: RedactionTarget): Promise<boolean> {
    const way = JSON.stringify([flow.type, flow.from, flow.to]);
    const earlier = answers.get(way);
    if (earlier !== undefined) {
      const known = await earlier.catch(() => "once");
      return known === "once" ? askOnce(flow, target) : known === "session";
    }
    const answer = ask(flow, target);
    answers.set(way, answer);
    let said: ApprovalAnswer | undefined;
    try {
      said = await answer;
    } finally {
      if (said === undefined || said === "once") answers.delete(way);
    }
    return said === "once" || said === "session";
  }

  /** @throws CemError `FLOW_DENIED` for the first type of values whose flow is not allowed, with all their origins. */
  return async (entries: Iterable<VaultEntry>, target: RedactionTarget): Promise<void> => {
    const { server, tool } = target;
    const to = { server, tool, inCode: await findNameInCode({ server, tool }) };
    const flows = new Map<string, Flow & { action: FlowAction }>();
    for (const { type, origins } of entries) {
      for (const from of origins) {
        // Values written by a user disclose nothing new. Each origin and type is checked once, since a list may have thousands.
        if (from === "" || flows.has(`${type} ${from}`)) continue;
        const action = decide(type, await placeOf(from), to);
        flows.set(`${type} ${from}`, { type, from, to: `${server}.${tool}`, action });
      }
    }
    const refused = [...flows.values()].filter(({ action }) => action === "deny");
    const [first] = refused;
    if (first !== undefined) {
      const from = refused.flatMap((flow) => (flow.type === first.type ? [flow.from] : [])).join(", ");
      throw denied({ ...first, from }, "no rule allows it");
    }
    for (const flow of flows.values())
      if (flow.action === "ask" && !(await askOnce(flow, target))) throw denied(flow, "nobody said yes");
  };
}

function denied({ type, from, to }: Flow, why: string): CemError {
  const message = `A value of type ${type} that came from ${from} may not go to ${to}: ${why}.`;
  return new CemError("FLOW_DENIED", message, { details: { type, from, to } });
}

/** The answer of a person. `undefined`: none was given. */
async function ask(
  { type, from, to }: Flow,
  { elicit, signal }: RedactionTarget,
): Promise<ApprovalAnswer | undefined> {
  const answer = await elicit?.({
    // Not the receiving server, which has no part in the question.
    server: "cem",
    mode: "form",
    message: `privacy.rules say to ask: may a value of type ${type} that came from ${from} go to ${to}?`,
    requestedSchema: {
      type: "object",
      properties: { allow: { type: "boolean", title: "Allow it for this session" } },
      required: ["allow"],
    },
    signal: signal ?? new AbortController().signal,
  });
  if (answer === undefined || answer.action === "cancel") return undefined;
  if (answer.action !== "accept" || answer.content?.["allow"] !== true) return "no";
  return answer.content["once"] === true ? "once" : "session";
}

/** Values that are safe inside any kind of literal, and in JSON inside it. */
const HARMLESS_IN_CODE = /^[^"\\\n\r\u2028\u2029[\]]*$/;
/** Characters that would end a literal or a comment unless escaped. */
const ESCAPED_IN_CODE = /['`$/]/g;

/** The beginning of a member's text in JSON that is a part of a text: an event stream, a request with its headers. */
const MEMBER = /"\s{0,8}:\s{0,8}"(?:[^"\\\n]|\\.){0,256}$/;
const MAX_MEMBER_CHARACTERS = 288;
/** The signs of it in a URL or a form. */
const ENCODED_SIGN = /%(?:2[02]|3A|5C)/gi;

const UNKNOWN =
  "which stands for no value of this session. Tokens last as long as their session: get the value again";
/** Parts of the session that a restorer reads. */
export interface RestorerSettings {
  vault: Vault;
  finder: ValueFinder;
  rules: readonly FlowRule[];
  findNameInCode?: FindNameInCode | undefined;
  /** Whether code sees tokens only. */
  seesTokens: boolean;
  /** The origins of values that other sessions of the workspace know. */
  origins?: Vault | undefined;
}

/** Replaces a session's tokens by values: in arguments of calls, as far as rules allow it, and in code. */
export function createRestorer(settings: RestorerSettings) {
  const { vault, finder, rules, seesTokens, origins } = settings;
  const assertAllowed = createFlowCheck(rules, settings.findNameInCode);

  function restoreIn(text: string, target: RedactionTarget, use: ValueOf): string {
    if (text.length < MIN_TEXT_CHARACTERS) return text;
    const tokens = vault.tokensIn(text);
    if (target.ownOnly !== true) {
      const unknown = tokens.find(({ entry }) => entry === undefined);
      if (unknown !== undefined) {
        const token = text.slice(unknown.start, unknown.end);
        throw unusableToken(`the token ${token}, ${UNKNOWN}`, token, target);
      }
      const mayBeLost = (seesTokens || vault.hasTokens) && target.isKept !== true;
      const rest = mayBeLost ? rewrite(text, () => " ", tokens) : "";
      const broken = brokenTokenIn(text) ?? (mayBeLost ? vault.partIn(rest) : undefined);
      const why = "which is a part of a token. Pass tokens whole: code can't cut or join them";
      if (broken !== undefined) throw unusableToken(`"${broken}", ${why}`, broken, target);
      const id = mayBeLost ? lostId(rest) : undefined;
      const how = "the id of a token in base64 or without its brackets. Pass tokens as they are";
      if (id !== undefined) throw unusableToken(`"${id}", ${how}`, id, target);
    }
    return restoreFound(text, use, tokens);
  }

  /** Replaces tokens by values; in JSON, and in the JSON in it, by values as JSON writes them. */
  function restoreFound(text: string, use: ValueOf, tokens = vault.tokensIn(text), isString = false): string {
    if (!tokens.some(isEscaped)) return rewrite(text, use, tokens);
    const rest = rewrite(
      text,
      use,
      tokens.filter((one) => !isEscaped(one)),
    );
    const write: ValueOf = (entry, token) => {
      const value = use(entry, token);
      if (typeof value !== "string") return value;
      const before = rest.slice(Math.max(0, token.start - MAX_MEMBER_CHARACTERS), token.start);
      const isMember = MEMBER.test(
        token.isEncoded ? before.replaceAll('"', " ").replaceAll(ENCODED_SIGN, decodeURIComponent) : before,
      );
      if (entry.piece === "string") return (isString && !isMember ? readString(value) : undefined) ?? value;
      return isMember ? JSON.stringify(value).slice(1, -1) : value;
    };
    const inJson = mapJson(rest, (inner, isWhole) => restoreFound(inner, use, undefined, isWhole));
    return inJson ?? rewrite(rest, write);
  }

  /** Finds the id of a damaged token, which a tool would receive unchanged. Code that sees values has no tokens to encode. */
  function lostId(text: string, depth = seesTokens ? 0 : MAX_DECODED): string | undefined {
    const id = vault.idIn(text) ?? redactionTokensIn(text)[0]?.id;
    if (id !== undefined || depth === MAX_DECODED) return id;
    return readingsOf(text)
      .map((reading) => lostId(reading.text, depth + 1))
      .find((one) => one !== undefined);
  }

  function rewrite(text: string, valueOf: ValueOf, tokens = vault.tokensIn(text)): string {
    let result = "";
    let from = 0;
    for (const token of tokens) {
      const { start, end, entry, isEncoded } = token;
      const value = entry && start >= from ? valueOf(entry, token) : undefined;
      if (value === undefined) continue;
      result += text.slice(from, start) + (isEncoded ? encodeURIComponent(value) : String(value));
      from = end;
    }
    return from === 0 ? text : result + text.slice(from);
  }

  /** Values that occur in arguments in plain or encoded form. */
  function valuesIn(args: JsonValue): VaultEntry[] {
    const values: VaultEntry[] = [];
    const look = (text: string): string => {
      for (const written of writtenIn(text)) {
        values.push(...vault.known.find(written).flatMap(({ alike }) => alike));
        // A value without an origin in this session may come from a file of another session.
        for (const one of origins?.valuesIn(written) ?? []) {
          const known = vault.known.find(String(one.value)).flatMap(({ alike }) => alike);
          if (!known.some((same) => same.origins.length > 0)) values.push(one);
        }
      }
      return text;
    };
    mapLeaves(args, {
      text: look,
      number: (value) => (look(String(value)), value),
      name: look,
      cells: (cells) => void look(cells.join("\n")),
    });
    return values;
  }

  return {
    /** Replaces tokens in the arguments of a call, if rules allow it. */
    async restore(args: JsonValue, target: RedactionTarget): Promise<JsonValue> {
      const entries = new Set<VaultEntry>();
      const use: ValueOf = (entry) => {
        if (target.ownOnly === true && !isFrom(target.server, entry)) return undefined;
        entries.add(entry);
        return entry.value;
      };
      const restored = mapLeaves(args, {
        text: (text) => restoreIn(text, target, use),
        number: (value) => {
          const entry = value >= MIN_NUMBER ? vault.entryByNumber(value) : undefined;
          if (seesTokens && target.ownOnly !== true && vault.isLostNumber(value))
            throw unusableToken(`the number ${value}, a token ${UNKNOWN}`, String(value), target);
          return (entry && use(entry, { start: 0, isEncoded: false })) ?? value;
        },
        name: (name) => restoreIn(name, target, use),
      }) as JsonValue;
      if (rules.length > 0 && target.isKept !== true) {
        // If code sees tokens only, a plain value is its own guess, and checking it would confirm the guess.
        const flowing = seesTokens ? entries : new Set([...entries, ...valuesIn(restored)]);
        await assertAllowed(flowing, target);
      }
      return restored;
    },
    /**
     * Replaces tokens in code, unless code sees tokens only. A value that could end a literal stays a token, which the
     * bridge replaces later. The author of the code knows the values in its text, so they count as written by the user.
     */
    reveal(code: string): string {
      if (rules.length > 0)
        for (const { start, end, type } of finder.find(code)) vault.entryOf(code.slice(start, end), type, "");
      if (seesTokens) return code;
      return rewrite(code, (entry) => {
        const value = String(entry.value);
        if (!HARMLESS_IN_CODE.test(value)) return undefined;
        return value.replace(ESCAPED_IN_CODE, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
      });
    },
  };
}

/** Whether JSON writes the value of a token in another way. */
function isEscaped({ entry }: { entry: VaultEntry | undefined }): boolean {
  return typeof entry?.value === "string" && entry.piece !== "form" && isEscapedInJson(entry.value);
}

/** A text and its decoded readings. */
function writtenIn(text: string, depth = 0): string[] {
  const written = [text, printedValues(text)?.text ?? ""];
  if (depth === MAX_DECODED) return written;
  return [...written, ...readingsOf(text).flatMap((reading) => writtenIn(reading.text, depth + 1))];
}

/** The replacement of a token. `undefined`: the token is kept. */
type ValueOf = (
  entry: VaultEntry,
  token: { start: number; isEncoded: boolean },
) => string | number | undefined;

function isFrom(server: string, { origins }: VaultEntry): boolean {
  return origins.some((origin) => origin !== "" && serverOf(origin) === server);
}

function unusableToken(what: string, token: string, { server, tool }: RedactionTarget): CemError {
  return new CemError("TOKEN_UNKNOWN", `The arguments of ${server}.${tool} have ${what}.`, {
    details: { server, tool, token },
  });
}
