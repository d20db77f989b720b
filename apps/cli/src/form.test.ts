import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const cwd = temporaryFolder();
const cem = (...args: string[]) => runCem(["form", ...args], { cwd });
const FORM = `name: club
fields:
  - { name: mail, label: Mail, type: email, required: true, pii: EMAIL }
  - { name: age, type: integer, min: 18 }
`;

beforeAll(() => {
  writeFileSync(path.join(cwd, "club.yaml"), FORM);
  writeFileSync(path.join(cwd, "wrong.yaml"), FORM.replace("email", "emial"));
  writeFileSync(path.join(cwd, "tool.yaml"), `${FORM}target: { type: tool, tool: crm.add }\n`);
  writeFileSync(
    path.join(cwd, "paper.yaml"),
    `${FORM}target: { type: pdf, template: a.pdf, output: b.pdf }\n`,
  );
  writeFileSync(path.join(cwd, "data.yaml"), "mail: ada@example.org\nage: 36\n");
  writeFileSync(path.join(cwd, "young.yaml"), "mail: ada@example.org\nage: 17\n");
});

describe("cem form", () => {
  it("shows what a form asks for", async () => {
    const { code, stdout } = await cem("show", "club.yaml");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /form +club\n +fills +nothing\n\n +mail +Mail: email, required, personal \(EMAIL\)\n +age +integer/,
    );
  });

  it("checks values, and shows none that is personal", async () => {
    const right = await cem("validate", "club.yaml", "--data", "data.yaml", "--json");
    expect(right.code).toBe(0);
    expect(JSON.parse(right.stdout)).toMatchObject({
      status: "success",
      values: { mail: expect.stringMatching(/^\[\[EMAIL/), age: 36 },
    });
    const young = await cem("validate", "club.yaml", "--data", "young.yaml");
    expect(young.code).toBe(1);
    expect(young.stdout).toContain("age  must be 18 or more");
    expect(young.stdout).not.toContain("ada@");
    const nothing = await cem("validate", "club.yaml");
    expect([nothing.code, nothing.stdout.includes("mail  is missing")]).toEqual([1, true]);
  });

  it.each([
    ["zip: 01234\nphone: +4930123456\nage: +20\ncodes: [007]\nold: true\nnote: true", "01234", "true"],
    [
      '{"zip": 1.10, "phone": "+49 30", "age": 20, "codes": "007", "old": true, "note": 12345678901234567890}',
      "1.10",
      "12345678901234567890",
    ],
  ])("takes texts without quotes as they are written: %s", async (data, zip, note) => {
    const fields = `fields:
  - { name: zip }
  - { name: phone, type: phone, pattern: '\\+49.*' }
  - { name: age, type: integer }
  - { name: codes, type: multiselect, options: ["007"] }
  - { name: old, type: boolean }
  - { name: note }\n`;
    writeFileSync(path.join(cwd, "texts.yaml"), `name: texts\n${fields}`);
    writeFileSync(path.join(cwd, "given.yaml"), data);
    const { stdout } = await cem("validate", "texts.yaml", "--data", "given.yaml", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      status: "success",
      values: { zip, age: 20, codes: ["007"], old: true, note },
    });
  });

  it.each([
    [["show", "wrong.yaml"], /wrong\.yaml:3 {2}fields\[0\]\.type/],
    [["show", "none.yaml"], /none\.yaml can't be read: it is not there/],
    [["fill", "club.yaml"], /club\.yaml has no target to fill/],
    [["fill", "tool.yaml"], /tool\.yaml calls tools, which a step of type form does in a workflow/],
    [["validate", "club.yaml", "--data", "club.txt"], /club\.txt can't be read: it is not there/],
    [["print", "club.yaml"], /print/],
  ])("says what is wrong with %j", async (args, message) => {
    const { code, stderr } = await cem(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it.each([
    ["papers", ["--workspace", "papers"], ""],
    ["configured", [], "execution:\n  workspace_dir: configured\n"],
  ])("fills a PDF file of the workspace %s", async (folder, options, config) => {
    const samples = path.resolve(import.meta.dirname, "../../../packages/forms/src/testing/sample.pdf");
    expect(existsSync(samples)).toBe(true);
    writeFileSync(path.join(cwd, "config.yaml"), config);
    mkdirSync(path.join(cwd, folder));
    copyFileSync(samples, path.join(cwd, folder, "a.pdf"));
    const { code, stdout } = await cem("fill", "paper.yaml", "--data", "data.yaml", ...options, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      status: "success",
      problems: [],
      output: expect.stringMatching(/b\.pdf$/),
    });
    expect([code, readdirSync(path.join(cwd, folder))]).toEqual([0, ["a.pdf", "b.pdf"]]);
    expect(stdout).not.toContain("ada@");
  });
});
