import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fillForm, parseForm } from "../index.ts";
import type { FormResult } from "../index.ts";
import { startFormSite } from "../testing/form-site.ts";
import type { FormSite } from "../testing/form-site.ts";
import { describeWith } from "../../../../vitest.tools.ts";

const DATA = {
  full_name: "Ada Λόβλεϊς",
  email: "ada@example.org",
  phone: "+49 228 123456",
  homepage: "https://example.org/ada",
  password: "correct horse",
  keywords: "engines",
  children: 3,
  height: 1.65,
  satisfaction: 7,
  birthday: "1815-12-10",
  wake: "06:45",
  arrival: "2026-07-01T14:30",
  expires: "2031-08",
  holiday: "2026-W31",
  colour: "#1e90ff",
  about: "Two\nlines",
  issued: "2020-02-29",
  terms: true,
  contact: "call",
  country: "de",
  city: "Bonn",
  languages: ["de", "en"],
  interests: ["music", "art"],
  certificate: "papers/certificate.pdf",
  letter: "Dear reader,",
  airport: "Berlin (BER)",
  class: "biz",
  meals: ["v", "h"],
  news: true,
  volume: 80,
  guests: 4,
  seat: "a",
  insured: true,
  nickname: "The Countess",
  reference: "REF-77",
};

describeWith("chromium")("a page with every kind of field", () => {
  const workspace = mkdtempSync(path.join(os.tmpdir(), "cem-forms-"));
  let site: FormSite;
  let result: FormResult;

  beforeAll(async () => {
    site = await startFormSite();
    const { mkdirSync } = await import("node:fs");
    mkdirSync(path.join(workspace, "papers"));
    writeFileSync(path.join(workspace, "papers/certificate.pdf"), "%PDF-1.7");
    const text = readFileSync(path.join(import.meta.dirname, "../testing/every-field.yaml"), "utf8");
    const form = parseForm(text.replace("http://127.0.0.1:1", site.origin));
    result = await fillForm(form, { data: DATA, workspace });
  });
  afterAll(async () => {
    await site.close();
    rmSync(workspace, { recursive: true });
  });

  it("is filled, read back and sent", () => {
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ status: "success", submitted: true });
    expect(result.readBack).toHaveLength(Object.keys(DATA).length);
    expect(result.readBack.filter(({ matches }) => !matches)).toEqual([]);
  });

  it("gets every value in clear", () => {
    const sent = JSON.parse(site.requests.find((request) => request.path === "/sent")?.body ?? "{}");
    expect(sent).toMatchObject({
      fullname: ["Ada Λόβλεϊς"],
      email: ["ada@example.org"],
      tel: ["+49 228 123456"],
      homepage: ["https://example.org/ada"],
      password: ["correct horse"],
      keywords: ["engines"],
      children: ["3"],
      height: ["1.65"],
      satisfaction: ["7"],
      birthday: ["1815-12-10"],
      wake: ["06:45"],
      arrival: ["2026-07-01T14:30"],
      expires: ["2031-08"],
      holiday: ["2026-W31"],
      colour: ["#1e90ff"],
      about: ["Two\nlines"],
      issued: ["29.02.2020"],
      terms: ["on"],
      contact: ["call"],
      country: ["de"],
      city: ["Bonn"],
      languages: ["de", "en"],
      interests: ["music", "art"],
      certificate: ["certificate.pdf"],
      letter: "Dear reader,",
      airport: "Berlin (BER)",
      class: "biz",
      meals: ["v", "h"],
      news: "true",
      volume: "80",
      guests: "4",
      seat: "a",
      insured: ["on"],
      nickname: "The Countess",
      reference: "REF-77",
    });
  });

  it("keeps a picture of each page", () => {
    expect(result.screenshots).toHaveLength(3);
    for (const file of result.screenshots) expect(readFileSync(file).subarray(1, 4).toString()).toBe("PNG");
    expect(result.screenshot).toBe(result.screenshots[0]);
  });

  it("shows nothing personal in the result", () => {
    const shown = JSON.stringify(result);
    for (const value of ["Λόβλεϊς", "ada@example.org", "123456", "correct horse", "1815", "Countess"]) {
      expect(shown).not.toContain(value);
    }
    expect(result.values["email"]).toMatch(/^\[\[EMAIL:/);
    expect(result.values["country"]).toBe("de");
  });
});
