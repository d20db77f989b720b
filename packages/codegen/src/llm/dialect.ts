import type { OpenAI } from "openai";

type StreamingRequest = OpenAI.Chat.ChatCompletionCreateParamsStreaming;

export interface Dialect {
  tokenLimit: "max_tokens" | "max_completion_tokens";
  temperature: boolean;
  /** Whether the API reports the tokens of a streamed answer. */
  usage: boolean;
}

/** Names of reasoning models: they take `max_completion_tokens` and no temperature. */
const REASONING_MODEL = /^(?:openai\/)?(?:o\d|gpt-5|gpt-6)/iu;

export function guessDialect(model: string): Dialect {
  const reasons = REASONING_MODEL.test(model);
  return { tokenLimit: reasons ? "max_completion_tokens" : "max_tokens", temperature: !reasons, usage: true };
}

interface ParameterRefusal {
  status?: number | undefined;
  code?: string | undefined;
  /** The parameter that the API names in addition to its message. */
  parameter?: string | undefined;
  message: string;
}

/** Adapts a dialect after the API refused a parameter. `undefined` if the error is about something else. */
export function adaptDialect(
  dialect: Dialect,
  { status, code, parameter, message }: ParameterRefusal,
): Dialect | undefined {
  if (status !== 400 && status !== 422) return undefined;
  const names = (name: string): boolean =>
    parameter === name || (parameter === undefined && new RegExp(`\\b${name}\\b`, "u").test(message));
  const unsupported =
    /^unsupported_(?:parameter|value)$/u.test(code ?? "") ||
    /unsupported|not supported|deprecated|unrecognized|unknown|not permitted|extra inputs/iu.test(message);
  if (!unsupported) return undefined;
  if (names("stream_options") && dialect.usage) return { ...dialect, usage: false };
  if (names("temperature") && dialect.temperature) return { ...dialect, temperature: false };
  if (names(dialect.tokenLimit)) {
    const tokenLimit = dialect.tokenLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    return { ...dialect, tokenLimit };
  }
  return undefined;
}

export function toRequest(
  { tokenLimit, temperature, usage }: Dialect,
  request: { model: string; messages: StreamingRequest["messages"]; maxTokens: number; temperature: number },
): StreamingRequest {
  return {
    model: request.model,
    messages: request.messages,
    stream: true,
    [tokenLimit]: request.maxTokens,
    ...(temperature && { temperature: request.temperature }),
    ...(usage && { stream_options: { include_usage: true } }),
  };
}
