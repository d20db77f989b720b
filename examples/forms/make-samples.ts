// Makes the PDF file that membership-pdf.yaml fills, beside it or in a given folder, and serves the page that membership.yaml fills until Ctrl-C.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { PDFDocument } from "@cantoo/pdf-lib";

const [folder = import.meta.dirname, port = "8123"] = process.argv.slice(2);
const LINE = { x: 60, width: 300, height: 24 };

const document = await PDFDocument.create();
const page = document.addPage([480, 420]);
const form = document.getForm();
page.drawText("Reading club: application for membership", { x: 60, y: 370, size: 14 });
const lines = [
  ["Full name", 300],
  ["Date of birth", 240],
  ["Single / family", 180],
  ["I accept the terms", 120],
] as const;
for (const [text, y] of lines) page.drawText(text, { x: 60, y: y + 30, size: 10 });
form.createTextField("name").addToPage(page, { ...LINE, y: 300 });
form.createTextField("born").addToPage(page, { ...LINE, y: 240 });
const membership = form.createRadioGroup("membership");
membership.addOptionToPage("single", page, { x: 60, y: 184, width: 16, height: 16 });
membership.addOptionToPage("family", page, { x: 100, y: 184, width: 16, height: 16 });
form.createCheckBox("terms").addToPage(page, { x: 60, y: 124, width: 16, height: 16 });
const file = path.join(folder, "membership.pdf");
writeFileSync(file, await document.save());

const FORM = `<!doctype html><html lang="en"><title>Reading club</title><form method="post">
<p><label>Full name <input name="name" required></label></p>
<p><label>Email <input type="email" name="email" required></label></p>
<p><label>Date of birth <input type="date" name="born" required></label></p>
<fieldset><legend>Membership</legend>
<label><input type="radio" name="membership" value="single"> For one</label>
<label><input type="radio" name="membership" value="family"> For a family</label></fieldset>
<p><label>Children <input type="number" name="children" min="1"></label></p>
<fieldset><legend>Genres</legend>
<label><input type="checkbox" name="genres" value="crime"> Crime</label>
<label><input type="checkbox" name="genres" value="poetry"> Poetry</label>
<label><input type="checkbox" name="genres" value="science"> Science</label></fieldset>
<p><label>Postcode <input name="postcode" pattern="[0-9]{5}"></label></p>
<p><label><input type="checkbox" name="terms" required> I accept the terms</label></p>
<button>Join</button></form></html>`;

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(request.method === "POST" ? "<p>Welcome</p>" : FORM);
});
server.listen(Number(port), "127.0.0.1", () => {
  const address = server.address();
  console.log(`${file}\nhttp://127.0.0.1:${typeof address === "object" ? address?.port : port}/`);
});
