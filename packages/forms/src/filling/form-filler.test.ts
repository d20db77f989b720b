import type { ElicitAnswer, ElicitRequest, JsonValue, ToolCall } from "@cem/core";
import { createRedactor } from "@cem/pii";
import { describe, expect, it } from "vitest";
import { createFormFiller, defineForm, fillForm } from "../index.ts";
import type { FormTarget } from "../index.ts";

const formOf = (fields: object[], rest: object = {}) => defineForm({ name: "try", fields, ...rest });

/** Someone who answers each question with the next of the answers. */
function person(...answers: ElicitAnswer[]) {
  const asked: (ElicitRequest & { mode: "form" })[] = [];
  const ask = async (request: ElicitRequest): Promise<ElicitAnswer> => {
    if (request.mode === "form") asked.push(request);
    return answers.shift() ?? { action: "cancel" };
  };
  return { ask, asked };
}

/** A target that remembers what it got. */
function target(): { target: FormTarget; got: Record<string, unknown> } {
  const got: Record<string, unknown> = {};
  return {
    got,
    target: {
      specificationVersion: "v1",
      async fill({ fields }) {
        for (const { field, value } of fields) got[field.name] = value;
        const readings = fields.map(({ field, value }) => ({ name: field.name, value, matches: true }));
        return { readings, problems: [], screenshots: [], submitted: true };
      },
    },
  };
}

describe("fillForm", () => {
  it("asks for what is missing, and again for what does not fit", async () => {
    const { ask, asked } = person(
      { action: "accept", content: { age: 17, mail: "no address" } },
      { action: "accept", content: { age: 18, mail: "ada@example.org" } },
    );
    const form = formOf([
      { name: "name", required: true },
      { name: "age", label: "Age", type: "integer", min: 18, required: true },
      { name: "mail", type: "email", required: true },
      { name: "note" },
    ]);
    const result = await fillForm(form, { data: { name: "Ada" }, ask });
    expect(result.status).toBe("success");
    expect(asked[0]?.requestedSchema).toEqual({
      type: "object",
      properties: {
        age: { title: "Age", type: "integer", minimum: 18 },
        mail: { title: "mail", type: "string", format: "email" },
      },
      required: ["age", "mail"],
    });
    expect(asked[1]?.message).toBe(
      "The form try needs 2 values. Age must be 18 or more. mail must be an email address.",
    );
  });

  it("asks for what an answer makes necessary, and not for what it makes needless", async () => {
    const { ask, asked } = person(
      { action: "accept", content: { kind: "company" } },
      { action: "accept", content: { vat: "DE1" } },
    );
    const form = formOf([
      { name: "kind", type: "select", options: ["person", "company"], required: true },
      { name: "vat", required: true, when: { field: "kind", equals: "company" } },
      { name: "born", type: "date", required: true, when: { field: "kind", equals: "person" } },
      {
        name: "sign",
        required: true,
        when: { all: [{ field: "born", filled: true }, { not: { field: "vat", filled: true } }] },
      },
    ]);
    const result = await fillForm(form, { ask });
    expect(result).toMatchObject({ status: "success", values: { kind: "company", vat: "DE1" } });
    expect(asked.map(({ requestedSchema }) => requestedSchema["required"])).toEqual([["kind"], ["vat"]]);
  });

  it("says what is missing and why, and never asks for secrets", async () => {
    const form = formOf([
      { name: "name", label: "Name", required: true },
      { name: "password", type: "password", required: true },
    ]);
    expect(await fillForm(form)).toMatchObject({
      status: "refused",
      missing: [{ field: "name", label: "Name" }, { field: "password" }],
    });
    const { ask, asked } = person({ action: "decline" });
    const declined = await fillForm(form, { ask });
    expect(declined.missing[0]).toEqual({
      field: "name",
      label: "Name",
      reason: "was asked for and not given",
    });
    expect(Object.keys((asked[0]?.requestedSchema["properties"] ?? {}) as object)).toEqual(["name"]);
  });

  it("refuses values that do not fit, without quoting them", async () => {
    const form = formOf([
      { name: "zip", pattern: "\\d{5}", pattern_hint: "five digits" },
      { name: "day", type: "date" },
      { name: "list", type: "multiselect", options: ["a", "b"], max_items: 1 },
      { name: "line" },
      { name: "slow", pattern: "(a+)+" },
    ]);
    const data = {
      zip: "secret",
      day: "2026-02-30",
      list: ["a", "b"],
      line: "a\nb",
      slow: `${"a".repeat(9_999)}!`,
      other: 1,
    };
    const result = await fillForm(form, { data });
    expect(result).toMatchObject({ status: "refused", values: {} });
    expect(result.problems.map(({ field, message }) => `${field} ${message}`)).toEqual([
      "zip must be five digits",
      "day must be a date such as 2026-01-31",
      "list must be at most 1, and 2 are given",
      "line must be one line",
      "slow must match (a+)+",
      "other is not a field of this form",
    ]);
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("gets values from tools, one from another's", async () => {
    const calls: ToolCall[] = [];
    const callTool = async (call: ToolCall): Promise<JsonValue> => {
      calls.push(call);
      return call.tool === "find" ? { id: 7 } : { contact: { mails: ["ada@example.org"] }, nothing: null };
    };
    const form = formOf(
      [
        { name: "login", required: true },
        { name: "id", type: "integer" },
        { name: "mail", type: "email", required: true },
        { name: "fax", required: true },
      ],
      {
        sources: [
          {
            tool: "crm.get",
            arguments: { id: { field: "id" } },
            values: { mail: "contact.mails.0", fax: "nothing" },
          },
          { tool: "crm.find", arguments: { login: { field: "login" }, exact: true }, values: { id: "id" } },
        ],
      },
    );
    const { ask, asked } = person({ action: "accept", content: { login: "ada" } }, { action: "decline" });
    const result = await fillForm(form, { ask, callTool });
    expect(calls.map(({ tool, args }) => [tool, args])).toEqual([
      ["find", { login: "ada", exact: true }],
      ["get", { id: 7 }],
    ]);
    expect(asked.map(({ requestedSchema }) => requestedSchema["required"])).toEqual([["login"], ["fax"]]);
    expect(result.status).toBe("refused");
  });

  it("calls a tool with the values, and shows nothing personal of what it returns", async () => {
    const calls: ToolCall[] = [];
    const callTool = async (call: ToolCall): Promise<JsonValue> => {
      calls.push(call);
      return { saved: `Ada Lovelace, table 9` };
    };
    const form = formOf(
      [
        { name: "name", pii: "NAME", locate: { name: "guest.name" } },
        { name: "seats", type: "integer" },
      ],
      { target: { type: "tool", tool: "tables.book" } },
    );
    const data = { name: "Ada Lovelace", seats: "2" };
    const result = await fillForm(form, { data, callTool });
    expect(calls[0]?.args).toEqual({ guest: { name: "Ada Lovelace" }, seats: 2 });
    expect(result.result).toEqual({ saved: expect.stringMatching(/^\[\[NAME:[a-z2-7]{16}\]\], table 9$/) });
    const redactor = createRedactor();
    await fillForm(form, { data, callTool, redactor, restoresTokens: true });
    const args = calls[1]?.args ?? null;
    expect(JSON.stringify(args)).not.toContain("Lovelace");
    expect(await redactor.detokenize(args, { server: "tables", tool: "book" })).toEqual(calls[0]?.args);
    const trial = await fillForm(form, { data, callTool, isTrial: true });
    expect([trial.submitted, calls.length]).toEqual([false, 2]);
  });

  it("says that the tool failed, with nothing of its error but the code", async () => {
    const form = formOf([{ name: "name" }], { target: { type: "tool", tool: "tables.book" } });
    const callTool = () => Promise.reject(new Error("no table for Ada"));
    expect(await fillForm(form, { data: { name: "Ada" }, callTool })).toMatchObject({
      status: "error",
      problems: [{ message: "The tool tables.book failed (UNEXPECTED)." }],
      readBack: [],
      submitted: true,
    });
  });

  it("fills an argument with one of several fields, and calls no tool where two are for it", async () => {
    const fields = ["vat", "tax"].map((name) => ({
      name,
      locate: { name: "id" },
      when: { field: "at", not_equals: name === "vat" ? "09:00:00" : "10:00" },
    }));
    const form = formOf([{ name: "at", type: "time" }, ...fields], {
      target: { type: "tool", tool: "tables.book" },
    });
    const calls: JsonValue[] = [];
    const callTool = async ({ args }: ToolCall): Promise<JsonValue> => calls.push(args);
    await fillForm(form, { data: { at: "09:00", tax: "1" }, callTool });
    expect(calls).toEqual([{ at: "09:00", id: "1" }]);
    const both = await fillForm(form, { data: { at: "11:00", vat: "1", tax: "2" }, callTool });
    expect(both).toMatchObject({ status: "error", problems: [{ field: "tax" }], submitted: false });
    expect(calls).toHaveLength(1);
  });

  it("turns tokens into values for the target, and values into tokens for all else", async () => {
    const redactor = createRedactor();
    const session = "s1";
    const token = redactor.tokenize("ada@example.org", { session });
    const { target: web, got } = target();
    const form = formOf(
      [
        { name: "mail", type: "email" },
        { name: "blood", pii: "HEALTH" },
        { name: "codes", type: "multiselect", options: ["HIV", "TBC"], pii: "HEALTH" },
        { name: "note" },
      ],
      { target: { type: "web", url: "https://example.org/form" } },
    );
    const filler = createFormFiller({ redactor, targets: { web } });
    const data = {
      mail: token,
      blood: "AB-",
      codes: ["HIV"],
      note: "Her blood is AB-, mail ada@example.org",
    };
    const result = await filler.fill(form, { data, session });
    expect(got).toMatchObject({
      mail: "ada@example.org",
      blood: "AB-",
      codes: ["HIV"],
      note: expect.stringContaining("ada@"),
    });
    expect(result.values["mail"]).toBe(token);
    expect(result.values["blood"]).toMatch(/^\[\[HEALTH:/);
    for (const value of ["ada@example.org", '"AB-"', "HIV"])
      expect(JSON.stringify(result)).not.toContain(value);
    const foreign = await filler.fill(form, { data, session: "s2" });
    expect(foreign).toMatchObject({
      status: "refused",
      problems: [{ field: "mail", message: expect.stringContaining("stands for no value") }],
    });
  });

  it("keeps to the rules of data flow", async () => {
    const redactor = createRedactor({ rules: [{ from: "EMAIL", to: "form.try", action: "deny" }] });
    const token = redactor.tokenize("ada@example.org", { server: "crm", tool: "get" });
    const { target: web, got } = target();
    const form = formOf([{ name: "mail", type: "email" }], {
      target: { type: "web", url: "https://example.org/" },
    });
    const result = await fillForm(form, { data: { mail: token }, redactor, targets: { web } });
    expect(result).toMatchObject({
      status: "refused",
      problems: [{ message: "must not go to this form: a rule keeps it" }],
    });
    expect(got).toEqual({});
  });

  it("takes a default whose condition another default meets", async () => {
    const form = formOf([
      { name: "seats", type: "integer", default: 3, when: { field: "plan", equals: "team" } },
      { name: "plan", default: "team", when: { field: "kind", equals: "new" } },
      { name: "kind", default: "new" },
      { name: "note", default: "", when: { field: "kind", equals: "old" } },
      { name: "rest", default: [], type: "multiselect", options: ["a"] },
    ]);
    const values = { kind: "new", plan: "team", seats: 3 };
    expect(await fillForm(form)).toMatchObject({ status: "success", values });
    const old = await fillForm(form, { data: { kind: "old" } });
    expect(old.values).toEqual({ kind: "old" });
  });

  it("takes a default that a tool waits for, and one that no tool brings", async () => {
    const form = formOf(
      [
        { name: "country", default: "DE" },
        { name: "city" },
        { name: "id" },
        { name: "plan", default: "free" },
      ],
      {
        sources: [
          { tool: "geo.get", arguments: { of: { field: "country" } }, values: { city: "city" } },
          { tool: "crm.get", arguments: { id: { field: "id" } }, values: { plan: "plan" } },
        ],
      },
    );
    const callTool = async (): Promise<JsonValue> => ({ city: "Bonn" });
    const values = { country: "DE", city: "Bonn", plan: "free" };
    expect(await fillForm(form, { callTool })).toMatchObject({ status: "success", values });
  });

  it("ends when it is cancelled", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(fillForm(formOf([{ name: "a" }]), { signal })).rejects.toThrow("enough");
  });
});

describe("FormFiller", () => {
  it("checks values without a question or a call", async () => {
    const { ask, asked } = person();
    const filler = createFormFiller({ ask });
    const form = formOf([
      { name: "a", required: true },
      { name: "b", default: "x" },
    ]);
    expect(await filler.check(form)).toMatchObject({ status: "refused", values: { b: "x" } });
    expect(await filler.check(form, { data: { a: "1" } })).toMatchObject({ status: "success" });
    expect(asked).toEqual([]);
  });
});
