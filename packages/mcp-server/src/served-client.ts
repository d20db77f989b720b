import type { Agent, Redactor, SkillStore, StateStore } from "@cem/core";
import { currentExchange } from "./http-exchange.ts";
import { MAX_CODE_CHARACTERS, MAX_TASK_CHARACTERS } from "./limits.ts";
import { ownerOf, requireLength, sessionOf } from "./server-tool.ts";
import type { Caller, ToolHost } from "./server-tool.ts";

/** What belongs to a client of the server, for faces beside MCP. */
export interface ServedClient {
  /** Whose runs the client may see: its customer's where there are customers, else its own. */
  readonly audience: string;
  readonly session: string;
  readonly agent: Agent;
  readonly state?: StateStore | undefined;
  readonly skills?: SkillStore | undefined;
  readonly redactor?: Redactor | undefined;
  /**
   * Starts a run without waiting for it.
   *
   * @throws CemError `INPUT_TOO_LARGE`, `SERVER_BUSY` or `SERVER_CLOSING`
   */
  launch(kind: "task" | "code", input: string): { readonly id: string };
}

export function servedClient(host: ToolHost, caller: Caller): ServedClient {
  const { agent, state, skills, redactor, runs } = host;
  const owner = ownerOf(caller);
  const audience = host.payer ?? owner;
  const session = sessionOf(caller);
  return {
    audience,
    agent,
    state,
    skills,
    redactor,
    session: session.session,
    launch(kind, input) {
      requireLength(kind, input, kind === "code" ? MAX_CODE_CHARACTERS : MAX_TASK_CHARACTERS);
      return runs.launch({
        kind,
        owner,
        payer: host.payer ?? currentExchange().payer,
        facts: { input, audience, redactor, session: session.session },
        // The run belongs to no call that could end it.
        signal: new AbortController().signal,
        begin: (options) => {
          const all = { ...options, ...session };
          return kind === "code" ? agent.executeCode(input, all) : agent.executeTask(input, all);
        },
      });
    },
  };
}
