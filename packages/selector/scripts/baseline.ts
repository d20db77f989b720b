import type { ToolDefinition } from "@cem/core";
import { splitStems } from "@cem/core/text";

const WEIGHTS = { name: 3, title: 2, description: 1, server: 1, parameters: 0.3 } as const;
const FIELDS = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
const SATURATION = 1.2;
const LENGTH_NORMALISATION = 0.75;

/** Plain BM25F over split and stemmed words, as textbooks have it: what the selector is compared with. */
export function createBaseline(tools: readonly ToolDefinition[]): (query: string, limit: number) => string[] {
  const documents = tools.map((tool) => ({
    name: splitStems(tool.name),
    title: splitStems(tool.annotations?.title ?? ""),
    description: splitStems(tool.description),
    server: splitStems(tool.server),
    parameters: Object.entries(tool.inputSchema.properties ?? {}).flatMap(([name, schema]) =>
      splitStems(`${name} ${schema.description ?? ""}`),
    ),
  }));
  const average = (field: (typeof FIELDS)[number]) =>
    documents.reduce((sum, document) => sum + document[field].length, 0) / documents.length || 1;
  const averages = Object.fromEntries(FIELDS.map((field) => [field, average(field)]));
  const frequencies = documents.map((document) => {
    const weights = new Map<string, number>();
    for (const field of FIELDS) {
      const length = document[field].length / (averages[field] ?? 1);
      for (const word of document[field]) {
        const weight = WEIGHTS[field] / (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length);
        weights.set(word, (weights.get(word) ?? 0) + weight);
      }
    }
    return weights;
  });
  const counts = new Map<string, number>();
  for (const word of frequencies.flatMap((weights) => [...weights.keys()])) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }

  return (query, limit) => {
    const words = new Set(splitStems(query));
    const scores = frequencies.map((weights) => {
      let score = 0;
      for (const word of words) {
        const weight = weights.get(word) ?? 0;
        const count = counts.get(word) ?? 0;
        score +=
          Math.log(1 + (tools.length - count + 0.5) / (count + 0.5)) * (weight / (SATURATION + weight));
      }
      return score;
    });
    return [...scores.keys()]
      .toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other)
      .slice(0, limit)
      .map((at) => `${tools[at]?.server}/${tools[at]?.name}`);
  };
}
