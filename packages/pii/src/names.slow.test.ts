import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { addPackageFinder } from "@cem/core/files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installTransformers } from "../../selector/src/testing/install-transformers.ts";
import { writeTinyLabeller } from "../../selector/src/testing/tiny-model.ts";
import { createNameRecognizer } from "./names.ts";

/** Of "Zuckermann" only a part is known as one of a name. */
const LABELS = {
  Ada: "B-PER",
  Love: "I-PER",
  "##lace": "I-PER",
  Zucker: "B-PER",
  "##mann": "O",
  Paris: "B-LOC",
  Rue: "B-LOC",
  de: "I-LOC",
  Rivoli: "I-LOC",
  word: "O",
};

let folder: string;
let forget: () => void;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-names-"));
  const library = fileURLToPath(await installTransformers());
  // As where it is installed in the project and not beside the command.
  forget = addPackageFinder(async (name) => (name === "@huggingface/transformers" ? library : undefined));
  await writeTinyLabeller(path.join(folder, "cased"), LABELS, true);
  const lower = Object.entries(LABELS).map(([word, label]) => [word.toLowerCase(), label]);
  await writeTinyLabeller(path.join(folder, "uncased"), Object.fromEntries(lower), false);
}, 300_000);
afterAll(() => {
  forget();
  rmSync(folder, { recursive: true, force: true });
});

async function find(model: string, text: string): Promise<[string, string][]> {
  const [found = []] = await createNameRecognizer({ modelDir: path.join(folder, model) }).recognize([text]);
  return found.map(({ start, end, type }) => [type, text.slice(start, end)]);
}

describe.each(["cased", "uncased"])("names by the real library and a small %s model", (model) => {
  it("joins the parts of a name, and takes whole words", async () => {
    expect(await find(model, "we met Ada Lovelace in Paris, Rue de Rivoli, and Zuckermann")).toEqual([
      ["NAME", "Ada Lovelace"],
      ["ADDRESS", "Paris"],
      ["ADDRESS", "Rue de Rivoli"],
      ["NAME", "Zuckermann"],
    ]);
  });

  it("finds them past what a model reads at once, and at the borders of these parts", async () => {
    for (const words of [126, 127, 128, 199, 200, 1_000]) {
      const text = `${"word ".repeat(words)}Ada Lovelace ${"9f86d081".repeat(50)} Paris`;
      const found = new Set((await find(model, text)).flat());
      expect([words, ...found]).toEqual([words, "NAME", "Ada Lovelace", "ADDRESS", "Paris"]);
    }
  });
});

it("finds words whose accents the model leaves out", async () => {
  expect(await find("uncased", "à Ádá Lovelace, Ǝ Páris")).toEqual([
    ["NAME", "Ádá Lovelace"],
    ["ADDRESS", "Páris"],
  ]);
});
