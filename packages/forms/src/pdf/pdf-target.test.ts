import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PDFDocument, StandardFonts } from "@cantoo/pdf-lib";
import { beforeAll, describe, expect, it } from "vitest";
import { defineForm, fillForm } from "../index.ts";
import type { FormResult } from "../index.ts";
import { temporaryWorkspace } from "../testing/workspace.ts";

const FONT = createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
/** One grey pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
  "base64",
);
const FIELDS = [
  { name: "name", label: "Name", required: true, pii: "NAME" },
  { name: "about", type: "textarea" },
  { name: "code", max_length: 4 },
  { name: "born", type: "date", format: "DD.MM.YYYY" },
  { name: "member", type: "boolean" },
  { name: "plan", type: "radio", options: [{ value: "basic", label: "Basic" }, "full"] },
  {
    name: "country",
    type: "select",
    options: [
      { value: "gr", label: "Greece" },
      { value: "de", label: "Germany" },
    ],
  },
  { name: "topics", type: "multiselect", options: ["art", "music", "sport"] },
];
const DATA = {
  name: "Ada Lovelace",
  about: "Two\nlines",
  code: "AB12",
  born: "1815-12-10",
  member: true,
  plan: "full",
  country: "gr",
  topics: ["art", "sport"],
};

async function writeTemplate(file: string): Promise<void> {
  const document = await PDFDocument.create();
  const page = document.addPage([600, 800]);
  const form = document.getForm();
  const at = (y: number) => ({ x: 50, y, width: 200, height: 20 });
  form.createTextField("person.name").addToPage(page, at(750));
  const about = form.createTextField("about");
  about.enableMultiline();
  about.addToPage(page, at(700));
  const code = form.createTextField("code");
  code.setMaxLength(4);
  code.addToPage(page, at(670));
  form.createTextField("born").addToPage(page, at(640));
  form.createCheckBox("member").addToPage(page, at(600));
  const plan = form.createRadioGroup("plan");
  plan.addOptionToPage("basic", page, at(570));
  plan.addOptionToPage("full", page, at(540));
  const country = form.createDropdown("country");
  country.setOptions(["Germany", "Greece"]);
  country.addToPage(page, at(500));
  const topics = form.createOptionList("topics");
  topics.setOptions(["art", "music", "sport"]);
  topics.enableMultiselect();
  topics.addToPage(page, at(450));
  form.createButton("photo").addToPage("photo", page, at(400));
  const locked = form.createTextField("locked");
  locked.addToPage(page, at(350));
  locked.enableReadOnly();
  await document.embedFont(StandardFonts.Helvetica);
  writeFileSync(file, await document.save());
}

describe("a PDF file", () => {
  const workspace = temporaryWorkspace();
  const fill = (data: object, target: object = {}, fields: object[] = FIELDS): Promise<FormResult> =>
    fillForm(
      defineForm({
        name: "membership",
        fields,
        target: { type: "pdf", template: "template.pdf", output: "out/filled.pdf", ...target },
      }),
      { data: { ...data }, workspace },
    );

  beforeAll(async () => {
    await writeTemplate(path.join(workspace, "template.pdf"));
    writeFileSync(path.join(workspace, "photo.png"), PNG);
    writeFileSync(path.join(workspace, "damaged.pdf"), "%PDF-1.4 garbage");
    writeFileSync(path.join(workspace, "DejaVuSans.ttf"), readFileSync(FONT));
  });

  it("is filled with every kind of field, read back and written", async () => {
    const result = await fill(DATA);
    expect(result).toMatchObject({
      status: "success",
      problems: [],
      output: path.join(workspace, "out/filled.pdf"),
    });
    expect(result.readBack.map(({ field, matches }) => [field, matches])).toEqual(
      FIELDS.map(({ name }) => [name, true]),
    );
    expect(JSON.stringify(result)).not.toContain("Lovelace");
    const form = (await PDFDocument.load(readFileSync(result.output ?? ""))).getForm();
    expect(form.getTextField("person.name").getText()).toBe("Ada Lovelace");
    expect(form.getTextField("born").getText()).toBe("10.12.1815");
    expect(form.getCheckBox("member").isChecked()).toBe(true);
    expect(form.getRadioGroup("plan").getSelected()).toBe("full");
    expect(form.getDropdown("country").getSelected()).toEqual(["Greece"]);
    expect(form.getOptionList("topics").getSelected()).toEqual(["art", "sport"]);
  });

  it("takes other scripts with a font, and says that it needs one without", async () => {
    const data = { ...DATA, name: "Άντα Λόβλεϊς" };
    const without = await fill(data, { output: "without.pdf" });
    expect(without.status).toBe("error");
    expect(without.problems).toEqual([
      {
        field: "name",
        message: expect.stringMatching(/^has \d+ characters that the document's fonts lack; name a font/),
      },
    ]);
    expect(existsSync(path.join(workspace, "without.pdf"))).toBe(false);
    const withFont = await fill(data, { font: "DejaVuSans.ttf" });
    expect(withFont).toMatchObject({ status: "success", problems: [] });
    const form = (await PDFDocument.load(readFileSync(withFont.output ?? ""))).getForm();
    expect(form.getTextField("person.name").getText()).toBe("Άντα Λόβλεϊς");
    const lacking = await fill({ ...DATA, name: "愛達" }, { font: "DejaVuSans.ttf" });
    expect(lacking.problems).toEqual([
      {
        field: "name",
        message: "has 2 characters that the form's font lacks; name another font with target.font",
      },
    ]);
  });

  it("can be made part of the pages", async () => {
    const { output = "" } = await fill(DATA, { flatten: true, output: "flat.pdf" });
    expect((await PDFDocument.load(readFileSync(output))).getForm().getFields()).toEqual([]);
  });

  it("says of each field why it can't take a value", async () => {
    const fields = [
      { name: "nowhere" },
      { name: "locked" },
      { name: "code" },
      { name: "born", type: "textarea" },
      { name: "member", type: "integer" },
      { name: "plan", type: "select", options: ["gold"] },
      { name: "photo" },
    ];
    const data = {
      nowhere: "x",
      locked: "x",
      code: "12345",
      born: "a\nb",
      member: 3,
      plan: "gold",
      photo: "x",
    };
    const result = await fill(data, { output: "refused.pdf" }, fields);
    expect(result.status).toBe("error");
    expect(result.problems.map(({ field, message }) => `${field} ${message}`)).toEqual([
      "nowhere is not in the document",
      "locked can't be changed in the document",
      "code takes at most 4 characters in the document",
      "born takes one line in the document",
      "member is a check box in the document, which takes yes or no",
      "plan has no such option in the document",
      "photo is a kind of field that can't be filled, such as an image or a signature",
    ]);
    expect(existsSync(path.join(workspace, "refused.pdf"))).toBe(false);
  });

  it.each([
    ["../template.pdf", 'target.template "../template.pdf" is not a file of the workspace.'],
    ["/etc/hostname", 'target.template "/etc/hostname" must lie in the workspace.'],
    ["photo.png", "photo.png can't be filled: it is not a PDF file, or a damaged one."],
    ["damaged.pdf", "damaged.pdf can't be filled: it is not a PDF file, or a damaged one."],
  ])("is not opened at %s", async (template, message) => {
    await expect(fill(DATA, { template })).rejects.toMatchObject({ code: "FORM_TARGET_FAILED", message });
  });

  it("is not written outside the workspace", async () => {
    const outside = temporaryWorkspaceBeside(workspace);
    symlinkSync(outside, path.join(workspace, "link"));
    for (const output of ["../out.pdf", "link/out.pdf", "link/new/out.pdf"]) {
      await expect(fill(DATA, { output })).rejects.toMatchObject({ code: "FORM_TARGET_FAILED" });
    }
    expect(existsSync(path.join(outside, "out.pdf"))).toBe(false);
    expect(existsSync(path.join(outside, "new"))).toBe(false);
  });
});

function temporaryWorkspaceBeside(workspace: string): string {
  const folder = `${workspace}-outside`;
  mkdirSync(folder);
  return folder;
}
