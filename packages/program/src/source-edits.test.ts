import { describe, expect, it } from "vitest";
import { editSource } from "./emit-imports.ts";

describe("editSource", () => {
  it("applies edits by position, whatever their order", () => {
    const edits = editSource("one two three");
    edits.overwrite(8, 13, "3");
    edits.overwrite(0, 3, "1");
    edits.insert(7, "!");
    edits.insert(4, "?");
    expect(edits.toString()).toBe("1   ?two! 3    ");
  });

  it("inserts before what is overwritten at the same position", () => {
    const edits = editSource("abc");
    edits.overwrite(0, 3, "x");
    edits.insert(0, ";");
    expect(edits.toString()).toBe(";x  ");
  });

  it("keeps every kind of line break of what it overwrites", () => {
    const edits = editSource("a\r\nb\nc\u2028d!");
    edits.overwrite(0, 8, "longer than it was");
    expect(edits.toString()).toBe("longer than it was\r\n\n\u2028!");
  });

  it("changes nothing without edits", () => {
    expect(editSource("same").toString()).toBe("same");
  });
});
