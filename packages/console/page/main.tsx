import { render } from "preact";
import { App } from "./app.tsx";
import "./main.css";

const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
