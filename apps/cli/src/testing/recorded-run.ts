import type { AgentEvent, TaskResult } from "@cem/core";

const isolation = {
  level: "namespaces",
  sandbox: "deno",
  mechanisms: ["bubblewrap", "seccomp", "rlimits", "deno permissions"],
} as const;

const calculate = { server: "calculator", tool: "calculate", score: 1, reason: 'matches "calculate"' };
const getWeather = {
  server: "weather",
  tool: "get_weather",
  score: 0.83,
  reason: 'matches "get", "weather"',
};

const code = `import { calculate } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";

const sum = await calculate({ expression: "5 + 3" });
const weather = await get_weather({ location: "San Francisco" });

export default { sum, weather };
`;

/** Result of a successful task. */
export const recordedResult: TaskResult = {
  status: "success",
  value: { sum: 8, weather: { location: "San Francisco", temperature: 14.2, conditions: "partly cloudy" } },
  output: "",
  outputDroppedBytes: 0,
  error: null,
  code,
  origin: "rules",
  selectedTools: [calculate, getWeather],
  availableTools: 14,
  toolCalls: [
    { server: "calculator", tool: "calculate", ms: 0.4, ok: true },
    { server: "weather", tool: "get_weather", ms: 1.2, ok: true },
  ],
  isolation,
  timings: { discover: 6, select: 2, generate: 3, review: 1, run: 9, total: 21 },
  contextTokens: { direct: 1914, used: 38, saved: 1876 },
};

/** The events of that task, in order. */
export const recordedEvents: AgentEvent[] = [
  { type: "stage-started", stage: "discover" },
  { type: "discovered", servers: 4, tools: 14, skills: 0, problems: 0, ms: 6 },
  { type: "stage-started", stage: "select" },
  {
    type: "selected",
    tools: [calculate, getWeather],
    available: 14,
    ms: 2,
    notes: ["by words only: no embedding model is set"],
  },
  { type: "stage-started", stage: "generate" },
  { type: "generated", code, origin: "rules", ms: 3 },
  { type: "stage-started", stage: "review" },
  { type: "reviewed", allowed: true, findings: [], ms: 0.6 },
  { type: "stage-started", stage: "run" },
  { type: "tool-called", call: { server: "calculator", tool: "calculate", ms: 0.4, ok: true } },
  { type: "output", chunk: { stream: "stdout", text: "the sum is 8\nand the" } },
  { type: "output", chunk: { stream: "stdout", text: " weather follows" } },
  { type: "ran", toolCalls: 2, isolation, ms: 9 },
  { type: "finished", result: recordedResult },
];
