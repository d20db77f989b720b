import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { addObserved, allowObserving, OBSERVED_FILE, readObserved } from "./observed-results.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "cem-observed-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

describe("observed results", () => {
  it("are not looked at before the user allows it", async () => {
    const directory = await folder();
    await addObserved(directory, new Map([["get", [{ a: 1 }]]]));
    expect(await readObserved(directory)).toBeUndefined();
  });

  it("grow with each run, and hold no values", async () => {
    const directory = await folder();
    await allowObserving(directory);
    await addObserved(directory, new Map([["get", [{ city: "Secretville", c: 1 }]]]));
    await allowObserving(directory);
    await addObserved(directory, new Map([["get", [{ city: "Elsewhere" }, { city: "Third" }]]]));
    expect((await readObserved(directory))?.get("get")).toEqual({
      results: 3,
      schema: {
        type: "object",
        properties: { city: { type: "string" }, c: { type: "integer" } },
        required: ["city"],
      },
    });
    expect(await readFile(path.join(directory, OBSERVED_FILE), "utf8")).not.toContain("Secretville");
  });

  it("start anew where the file is broken", async () => {
    const directory = await folder();
    await writeFile(path.join(directory, OBSERVED_FILE), "{");
    expect(await readObserved(directory)).toBeUndefined();
    await allowObserving(directory);
    expect(await readObserved(directory)).toEqual(new Map());
  });
});
