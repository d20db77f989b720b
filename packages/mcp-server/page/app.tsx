import { useEffect, useState } from "preact/hooks";
import { hasToken, setToken } from "./api.ts";
import { Customers } from "./customers.tsx";
import { Guests } from "./guests.tsx";
import { Queue } from "./queue.tsx";
import { Runs } from "./runs.tsx";
import { Sessions } from "./sessions.tsx";
import { SignIn } from "./sign-in.tsx";
import { Skills } from "./skills.tsx";
import { State } from "./state.tsx";
import { Tools } from "./tools.tsx";
import { Workflows } from "./workflows.tsx";
import { useRuns } from "./use-runs.ts";

const VIEWS = {
  runs: "Runs",
  tools: "Tools",
  skills: "Skills",
  workflows: "Workflows",
  sessions: "Sessions",
  state: "State",
  customers: "Customers",
  guests: "Guests",
  queue: "Queue",
} as const;
type View = keyof typeof VIEWS;

/** The address after `#`: a view, and what is selected in it. No view for an address that leads nowhere. */
function readAddress(): { view?: View; selected: string } {
  const [view = "", selected = ""] = location.hash.slice(1).split("/", 2);
  if (view === "") return { view: "runs", selected: "" };
  try {
    if (Object.hasOwn(VIEWS, view)) return { view: view as View, selected: decodeURIComponent(selected) };
  } catch {
    // Not percent-encoded.
  }
  return { selected: "" };
}

export function App() {
  const [{ view, selected }, setAddress] = useState(readAddress);
  useEffect(() => {
    const onChange = (): void => setAddress(readAddress());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  useEffect(() => {
    document.title = `${view === undefined ? "Not found" : VIEWS[view]} · Console · Code Execution MCP`;
  }, [view]);
  const feed = useRuns();

  if (feed.needsToken) return <SignIn wasRefused={hasToken()} onToken={feed.restart} />;
  const asking = feed.runs.filter(({ status }) => status === "asking").length;
  return (
    <>
      <a class="skip" href="#content" onClick={skipToContent}>
        Skip to content
      </a>
      <header class="bar">
        <p class="brand">
          <img src="icon.svg" alt="" width="24" height="24" /> <span>Code Execution MCP</span>
        </p>
        <nav aria-label="Console">
          {Object.entries(VIEWS).map(([name, title]) => (
            <a key={name} href={`#${name}`} aria-current={name === view ? "page" : undefined}>
              {title}
              {name === "runs" && asking > 0 && (
                <span class="badge" title={`${asking} waiting for an answer`}>
                  {asking}
                  <span class="unseen"> waiting for an answer</span>
                </span>
              )}
            </a>
          ))}
        </nav>
        <p class={`link ${feed.isOpen ? "on" : "off"}`} role="status">
          {feed.isOpen ? "Live" : "Connecting…"}
        </p>
        {hasToken() && (
          <button
            class="quiet"
            onClick={() => {
              setToken("");
              feed.restart();
            }}
          >
            Sign out
          </button>
        )}
      </header>
      <main id="content" tabIndex={-1}>
        {view === undefined && <NotFound />}
        {view === "runs" && <Runs feed={feed} selected={selected} />}
        {view === "tools" && <Tools />}
        {view === "skills" && <Skills selected={selected} />}
        {view === "workflows" && <Workflows selected={selected} />}
        {view === "sessions" && <Sessions selected={selected} />}
        {view === "state" && <State />}
        {view === "customers" && <Customers />}
        {view === "guests" && <Guests />}
        {view === "queue" && <Queue />}
      </main>
    </>
  );
}

function NotFound() {
  return (
    <div class="page">
      <h1>Not found</h1>
      <p>
        The console has no page at <code>{location.hash}</code>. <a href="#runs">See the runs</a>
      </p>
    </div>
  );
}

/** The address names the view, so the link must not change it. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}
