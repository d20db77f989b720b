import type { WorkflowGraph } from "../src/console/schemas.ts";

const BOX = { width: 168, height: 46 };
const GAP = { x: 44, y: 18 };
const MARGIN = 4;
const MAX_NAME_CHARACTERS = 20;
/** Steps beyond these are listed, but not drawn. */
const MAX_DRAWN_STEPS = 200;

type Step = WorkflowGraph["steps"][number];

interface Place {
  step: Step;
  x: number;
  y: number;
}

/**
 * Draws the steps of a workflow from left to right, with what each waits for.
 *
 * @param states - The state of each step of one run, by its name.
 */
export function Graph({ steps, states }: { steps: readonly Step[]; states?: ReadonlyMap<string, string> }) {
  const places = placesOf(steps);
  const width = Math.max(...[...places.values()].map(({ x }) => x)) + BOX.width + MARGIN;
  const height = Math.max(...[...places.values()].map(({ y }) => y)) + BOX.height + MARGIN;
  if (places.size === 0) return null;
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Graph of the steps">
      <svg width={width} height={height} role="img" aria-label={describe(places, states)}>
        {[...places.values()].flatMap((place) =>
          place.step.after.map((before) => (
            <Arrow key={`${before} ${place.step.text}`} from={places.get(before)} to={place} />
          )),
        )}
        {[...places.values()].map(({ step, x, y }) => (
          <g
            key={step.text}
            class={`step ${states?.get(step.text) ?? ""}`}
            transform={`translate(${x} ${y})`}
          >
            <title>{step.text}</title>
            <rect {...BOX} rx="8" />
            <text x="12" y="20">
              {short(step.text)}
            </text>
            <text class="faint" x="12" y="37">
              {states?.get(step.text) ?? short(step.detail.split("  ")[0] ?? "")}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Steps that can run at once stand below each other. */
function placesOf(steps: readonly Step[]): Map<string, Place> {
  const rows = new Map<number, number>();
  const places = new Map<string, Place>();
  for (const step of steps.filter(({ depth }) => depth === 0).slice(0, MAX_DRAWN_STEPS)) {
    const row = rows.get(step.group) ?? 0;
    rows.set(step.group, row + 1);
    const x = MARGIN + (step.group - 1) * (BOX.width + GAP.x);
    places.set(step.text, { step, x, y: MARGIN + row * (BOX.height + GAP.y) });
  }
  return places;
}

function Arrow({ from, to }: { from: Place | undefined; to: Place }) {
  if (from === undefined) return null;
  const start = { x: from.x + BOX.width, y: from.y + BOX.height / 2 };
  const end = { x: to.x - 2, y: to.y + BOX.height / 2 };
  const bend = GAP.x / 2;
  return (
    <g class="arrow">
      <path
        d={`M${start.x} ${start.y} C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`}
      />
      <path d={`M${end.x - 6} ${end.y - 4} L${end.x} ${end.y} L${end.x - 6} ${end.y + 4}`} />
    </g>
  );
}

function describe(
  places: ReadonlyMap<string, Place>,
  states: ReadonlyMap<string, string> | undefined,
): string {
  const told = [...places.values()].map(({ step: { text, after } }) => {
    const state = states?.get(text);
    const waits = after.length === 0 ? "" : ` after ${after.join(" and ")}`;
    return `${text}${waits}${state === undefined ? "" : `: ${state}`}`;
  });
  return `${told.join("; ")}.`;
}

function short(text: string): string {
  return text.length > MAX_NAME_CHARACTERS ? `${text.slice(0, MAX_NAME_CHARACTERS - 1)}…` : text;
}
