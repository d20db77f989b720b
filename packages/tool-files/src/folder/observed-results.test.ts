import { readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { addObserved, allowObserving, OBSERVED_FILE, readObserved } from "./observed-results.ts";

describe("observed results", () => {
  it("are not looked at before the user allows it", async () => {
    const directory = await temporaryFolder();
    await addObserved(directory, new Map([["get", [{ a: 1 }]]]));
    expect(await readObserved(directory)).toBeUndefined();
  });

  it("grow with each run, and hold no values", async () => {
    const directory = await temporaryFolder();
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

  it("replace a link in place of the file, and do not follow it", async () => {
    const directory = await temporaryFolder();
    const outside = path.join(await temporaryFolder(), "outside.json");
    await writeFile(outside, "outside");
    await symlink(outside, path.join(directory, OBSERVED_FILE));
    await allowObserving(directory);
    expect(await readFile(outside, "utf8")).toBe("outside");
    expect(await readObserved(directory)).toEqual(new Map());
  });

  it("start anew where the file is broken", async () => {
    const directory = await temporaryFolder();
    await writeFile(path.join(directory, OBSERVED_FILE), "{");
    expect(await readObserved(directory)).toBeUndefined();
    await allowObserving(directory);
    expect(await readObserved(directory)).toEqual(new Map());
  });
});
