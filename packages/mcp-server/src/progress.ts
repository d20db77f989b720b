import type { AgentEvent, ToolProgress } from "@cem/core";
import { toolId } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { MIN_PROGRESS_INTERVAL_MS } from "./limits.ts";

type Stage = Extract<AgentEvent, { type: "stage-started" }>["stage"];

const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  discover: "Looking at the tools",
  select: "Choosing tools",
  generate: "Writing code",
  review: "Reviewing the code",
  run: "Running the code",
};

/** This many events are reported however quickly they follow each other. */
const FIRST_EVENTS = 20;
const MAX_MESSAGE_CHARACTERS = 400;

/** Reports the stages and tool calls of a run to a client that asked for progress, until its call is answered. */
export class Progress {
  readonly #request: ServerContext["mcpReq"];
  readonly #token: string | number | undefined;
  #progress = 0;
  #toldAt = 0;
  #told: Promise<unknown> = Promise.resolve();
  #finished = false;

  constructor({ mcpReq }: ServerContext) {
    const { _meta: { progressToken } = {} } = mcpReq;
    this.#request = mcpReq;
    this.#token = progressToken;
  }

  readonly onEvent = (event: AgentEvent): void => {
    if (this.#token === undefined || this.#finished) return;
    if (event.type === "stage-started") {
      this.#progress += 1;
      this.#tell(STAGE_WORDS[event.stage]);
    } else if (event.type === "tool-called") {
      const { server, tool, ms, ok } = event.call;
      const end = ok ? "answered" : "failed";
      this.#tellSometimes(`${toolId({ server, name: tool })} ${end} after ${Math.round(ms)} ms`);
    } else if (event.type === "tool-progressed") {
      this.#tellSometimes(`${toolId({ server: event.server, name: event.tool })}: ${worded(event.progress)}`);
    }
  };

  /** Ends the reports, which must not follow the call's answer. Resolves when all of them are sent. */
  async finish(): Promise<void> {
    this.#finished = true;
    await this.#told;
  }

  /** Tells of the first events, and then of those that do not follow each other too quickly. */
  #tellSometimes(message: string): void {
    this.#progress += 1;
    const isQuick = performance.now() - this.#toldAt < MIN_PROGRESS_INTERVAL_MS;
    if (!isQuick || this.#progress <= FIRST_EVENTS) this.#tell(message);
  }

  #tell(message: string): void {
    this.#toldAt = performance.now();
    const params = { progressToken: this.#token ?? 0, progress: this.#progress, message };
    // A disconnected client is handled by the transport.
    const sent = this.#request.notify({ method: "notifications/progress", params }).catch(() => {});
    this.#told = Promise.all([this.#told, sent]);
  }
}

/** The tool's own numbers and words. The notification's number counts events, since it has to rise over all tools. */
function worded({ progress, total, message }: ToolProgress): string {
  const numbers = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined || message === ""
    ? numbers
    : `${numbers}, ${message.slice(0, MAX_MESSAGE_CHARACTERS)}`;
}
