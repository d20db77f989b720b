import type { SkillDetails, SkillList } from "../src/console/schemas.ts";
import { Code } from "./code.tsx";
import { Empty, Part, useAnswer } from "./parts.tsx";
import { Redacted } from "./redacted.tsx";
import { DetailsTitle, NoDetails, Split } from "./split.tsx";

export function Skills({ selected }: { selected: string }) {
  const { answer, problem } = useAnswer<SkillList>("skills");
  return (
    <Split
      view="skills"
      title="Skills"
      selected={selected}
      hint={<p class="hint center">Select a skill to see what it does and its code.</p>}
      list={
        <>
          {problem !== undefined && <p class="hint">{problem}</p>}
          {answer?.skills.length === 0 && (
            <Empty title="No skills yet">
              <p>
                Code that worked can be kept: a model proposes it with <code>save_skill</code>, and a person
                promotes it with <code>cem skills promote</code>.
              </p>
            </Empty>
          )}
          <ul class="runs">
            {answer?.skills.map(({ name, description, status, version, changedTools }) => (
              <li key={`${name}${status}`}>
                <a
                  href={`#skills/${encodeURIComponent(name)}`}
                  aria-current={name === selected ? "true" : undefined}
                >
                  <span class="title">
                    {name} <small>version {version}</small>
                  </span>
                  <span class="hint">
                    <Redacted text={description} />
                  </span>
                  {status === "proposal" && <span class="tag">proposal</span>}
                  {changedTools.length > 0 && (
                    <span class="tag bad">tools changed: {changedTools.join(", ")}</span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </>
      }
    >
      <Skill key={selected} name={selected} />
    </Split>
  );
}

function Skill({ name }: { name: string }) {
  const { answer: skill, problem } = useAnswer<SkillDetails>(`skills/${encodeURIComponent(name)}`);
  if (skill === undefined) return <NoDetails problem={problem} />;
  return (
    <article class="run" aria-labelledby="details-title">
      <DetailsTitle>{skill.name}</DetailsTitle>
      {skill.instructions !== "" && (
        <Part title="Instructions">
          <Code label="Instructions" text={skill.instructions} />
        </Part>
      )}
      {skill.code !== "" && (
        <Part title="Code">
          <Code label="Code" text={skill.code} isProgram />
        </Part>
      )}
      {skill.test !== "" && (
        <Part title="Test">
          <Code label="Test" text={skill.test} isProgram />
        </Part>
      )}
    </article>
  );
}
