import { experimental_createCodeModeTool as createCodeModeTool } from "@ai-sdk/code-mode";
import { jsonSchema, tool } from "ai";
import { compile } from "json-schema-to-typescript";
import ts from "typescript";
import { generateToolModule, nameTools } from "../../src/index.ts";
import { type Row, toDefinition } from "./rows.ts";

/** The slowest peer takes milliseconds for each schema: of a large catalog it gets a sample. */
const MAX_SLOW_SAMPLES = 400;
/** Schemas generated before the clock starts, so that no one is timed cold. */
const WARM_UP_SCHEMAS = 200;

interface Generator {
  name: string;
  isSlow: boolean;
  generate(row: Row): string | Promise<string>;
}

interface Figures {
  timings: number[];
  notWellFormed: number;
  largest: number;
}

/** Times ours and the others on the same schemas in one run, schema by schema, each in turn being the first. */
export async function comparePeers(rows: readonly Row[]): Promise<string[]> {
  const generators = [ours(rows), aiSdkCodeMode, jsonSchemaToTypeScript];
  const figures = generators.map((): Figures => ({ timings: [], notWellFormed: 0, largest: 0 }));
  const step = Math.ceil(rows.length / MAX_SLOW_SAMPLES);
  for (let index = 0; index < WARM_UP_SCHEMAS; index += 1) {
    const row = rows[index % rows.length];
    for (const generator of generators) if (row !== undefined) await attempt(generator, row);
  }
  const texts: (readonly [Figures, string | undefined])[] = [];
  for (const [round, row] of rows.entries()) {
    for (let turn = 0; turn < generators.length; turn += 1) {
      const index = (round + turn) % generators.length;
      const [generator, figure] = [generators[index], figures[index]];
      if (generator === undefined || figure === undefined || (generator.isSlow && round % step > 0)) continue;
      const start = performance.now();
      const text = await attempt(generator, row);
      figure.timings.push(performance.now() - start);
      texts.push([figure, text]);
    }
  }
  for (const [figure, text] of texts) {
    figure.notWellFormed += text !== undefined && isWellFormed(text) ? 0 : 1;
    figure.largest = Math.max(figure.largest, text?.length ?? 0);
  }
  return generators.map(({ name }, index) => describe(name, figures[index]));
}

/** A generator that throws gives no text. */
async function attempt(generator: Generator, row: Row): Promise<string | undefined> {
  try {
    return await generator.generate(row);
  } catch {
    return undefined;
  }
}

function describe(name: string, figures: Figures | undefined): string {
  const sorted = (figures?.timings ?? []).toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(3);
  const total = sorted.reduce((sum, ms) => sum + ms, 0).toFixed(0);
  const times = `${sorted.length} schemas: median ${at(0.5)} ms, p99 ${at(0.99)} ms, total ${total} ms`;
  return `${name.padEnd(26)} ${times}; not well-formed ${figures?.notWellFormed}, largest ${figures?.largest} characters`;
}

function ours(rows: readonly Row[]): Generator {
  const names = nameTools([...new Set(rows.map((row) => row.tool))]);
  return {
    name: "@cem/tool-files",
    isSlow: false,
    generate(row) {
      const definition = { ...toDefinition(row), name: row.tool };
      const identifier = names.get(row.tool)?.identifier ?? "tool";
      return generateToolModule(definition, { server: row.server, identifier }).code;
    },
  };
}

const jsonSchemaToTypeScript: Generator = {
  name: "json-schema-to-typescript",
  isSlow: true,
  generate: (row) =>
    compile(structuredClone(row.inputSchema) as never, "Input", {
      bannerComment: "",
      ignoreMinAndMaxItems: true,
      // Without this it would read files and fetch what a schema names.
      $refOptions: { resolve: { external: false } },
    }),
};

const aiSdkCodeMode: Generator = {
  name: "@ai-sdk/code-mode",
  isSlow: false,
  generate(row) {
    const one = tool({
      description: row.description ?? "",
      inputSchema: jsonSchema(row.inputSchema as never),
    });
    const { description } = createCodeModeTool({ [row.tool]: one } as never);
    return /```ts\n(declare const tools[\s\S]*?\n\};)\n```/.exec(String(description))?.[1] ?? "(";
  },
};

/** Whether the text parses as TypeScript; the type check of ours is a separate one. */
function isWellFormed(text: string): boolean {
  const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
  return (diagnostics ?? []).length === 0;
}
