import { beforeAll, describe, expect, test } from 'vitest';
import { BODY_START_LINE, buildFrontMatter, listProblems } from '../../testing/temporary-content.ts';

/** Each case is one page; the mistake must be reported once, with its line and with the words. */
const cases: { name: string; page: string; line: number; message: string }[] = [
  {
    name: 'an unknown tag',
    page: `${buildFrontMatter()}Text.\n\n{% nonsense /%}\n`,
    line: BODY_START_LINE + 2,
    message: "Undefined tag: 'nonsense'",
  },
  {
    name: 'a bad attribute',
    page: `${buildFrontMatter()}{% hint kind="x" %}\nText.\n{% /hint %}\n`,
    line: BODY_START_LINE,
    message: "Invalid attribute: 'kind'",
  },
  {
    name: 'a value that is not allowed',
    page: `${buildFrontMatter()}{% hint type="shout" %}\nText.\n{% /hint %}\n`,
    line: BODY_START_LINE,
    message: "Got 'shout' instead.",
  },
  {
    name: 'a tag that is not closed',
    page: `${buildFrontMatter()}{% hint %}\nText.\n`,
    line: BODY_START_LINE,
    message: 'closing',
  },
  {
    name: 'a link to no page',
    page: `${buildFrontMatter()}Text.\n\nSee [that](/docs/that).\n`,
    line: BODY_START_LINE + 2,
    message: 'there is no such page',
  },
  {
    name: 'a link to no anchor',
    page: `${buildFrontMatter()}## One\n\n[two](#two)\n`,
    line: BODY_START_LINE + 2,
    message: 'it has one',
  },
  {
    name: 'a relative link',
    page: `${buildFrontMatter()}[that](../that)\n`,
    line: BODY_START_LINE,
    message: 'neither an address from the root',
  },
  {
    name: 'a missing picture',
    page: `${buildFrontMatter()}{% image src="no.png" alt="None" /%}\n`,
    line: BODY_START_LINE,
    message: '"no.png" does not exist',
  },
  {
    name: 'a picture without words for it',
    page: `${buildFrontMatter()}{% image src="no.png" /%}\n`,
    line: BODY_START_LINE,
    message: "Missing required attribute: 'alt'",
  },
  {
    name: 'a code block without a language',
    page: `${buildFrontMatter()}\`\`\`\nx\n\`\`\`\n`,
    line: BODY_START_LINE,
    message: 'names the language ""',
  },
  {
    name: 'a code block in an unknown language',
    page: `${buildFrontMatter()}\`\`\`cobol\nx\n\`\`\`\n`,
    line: BODY_START_LINE,
    message: '"cobol"',
  },
  {
    name: 'an expectation on what is not run',
    page: `${buildFrontMatter()}\`\`\`json {% expect="x" %}\n{}\n\`\`\`\n`,
    line: BODY_START_LINE,
    message: 'Only a bash block',
  },
  {
    name: 'output in another language than text',
    page: `${buildFrontMatter()}\`\`\`json {% output=true %}\n{}\n\`\`\`\n`,
    line: BODY_START_LINE,
    message: 'A code block with "output" is text',
  },
  {
    name: 'a heading of level 1',
    page: `${buildFrontMatter()}# One\n`,
    line: BODY_START_LINE,
    message: 'only the title has',
  },
  {
    name: 'a heading that skips a level',
    page: `${buildFrontMatter()}### One\n`,
    line: BODY_START_LINE,
    message: 'follows no heading of level 2',
  },
  {
    name: 'an anchor used twice',
    page: `${buildFrontMatter()}## One\n\n## One\n`,
    line: BODY_START_LINE + 2,
    message: 'is on this page already',
  },
  {
    name: 'one tab alone',
    page: `${buildFrontMatter()}{% tabs group="a" %}\n{% tab label="A" %}\nText.\n{% /tab %}\n{% /tabs %}\n`,
    line: BODY_START_LINE,
    message: 'two or more',
  },
  {
    name: 'an operation that its path lacks',
    page: `${buildFrontMatter()}## One\n\n{% swagger spec="cloud" method="patch" path="/v1/account" /%}\n`,
    line: BODY_START_LINE + 2,
    message: 'has no operation "patch /v1/account"; the path has get, put.',
  },
  {
    name: 'an operation of a path that is none',
    page: `${buildFrontMatter()}## One\n\n{% swagger spec="marketplace" method="get" path="/v1/nothing" /%}\n`,
    line: BODY_START_LINE + 2,
    message: 'it has no such path',
  },
  {
    name: 'a tag of the API that is none',
    page: `${buildFrontMatter()}{% swagger spec="cloud" tag="ruins" level=2 /%}\n`,
    line: BODY_START_LINE,
    message: 'no operation with the tag "ruins"; its tags are account',
  },
  {
    name: 'an operation named twice over',
    page: `${buildFrontMatter()}{% swagger spec="cloud" tag="service" method="get" level=2 /%}\n`,
    line: BODY_START_LINE,
    message: 'has either "tag", or "method" and "path"',
  },
  {
    name: 'an operation named by half',
    page: `${buildFrontMatter()}{% swagger spec="cloud" method="get" level=2 /%}\n`,
    line: BODY_START_LINE,
    message: 'needs "method" and "path"',
  },
  {
    name: 'an operation that is on the page already',
    page: `${buildFrontMatter()}{% swagger spec="cloud" method="get" path="/healthz" level=2 /%}\n\n{% swagger spec="cloud" method="GET" path="/healthz" level=2 /%}\n`,
    line: BODY_START_LINE + 2,
    message: 'is on this page already',
  },
  {
    name: 'an operation of level 3 without one of level 2',
    page: `${buildFrontMatter()}{% swagger spec="cloud" method="get" path="/healthz" /%}\n`,
    line: BODY_START_LINE,
    message: 'write level=2',
  },
  {
    name: 'an operation of level 4',
    page: `${buildFrontMatter()}{% swagger spec="cloud" method="get" path="/healthz" level=4 /%}\n`,
    line: BODY_START_LINE,
    message: 'write 2 or 3',
  },
  {
    name: 'a link on a later line of a paragraph',
    page: `${buildFrontMatter()}One line,\nanother, and\n[that](/docs/that).\n`,
    line: BODY_START_LINE + 2,
    message: 'there is no such page',
  },
  {
    name: 'a link in a list in a hint',
    page: `${buildFrontMatter()}{% hint %}\n- One\n- [that](/docs/that)\n{% /hint %}\n`,
    line: BODY_START_LINE + 2,
    message: 'there is no such page',
  },
  {
    name: 'a link of a table',
    page: `${buildFrontMatter()}| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | [that](/docs/that) |\n`,
    line: BODY_START_LINE + 3,
    message: 'there is no such page',
  },
  {
    name: 'a link to a file that is none',
    page: `${buildFrontMatter()}[that](/openapi/clod.json)\n`,
    line: BODY_START_LINE,
    message: 'there is no such page',
  },
  {
    name: 'a link to a script',
    page: `${buildFrontMatter()}[that](javascript:alert)\n`,
    line: BODY_START_LINE,
    message: 'is no link',
  },
  {
    name: 'a link to nothing',
    page: `${buildFrontMatter()}[that]()\n`,
    line: BODY_START_LINE,
    message: 'neither',
  },
  {
    name: 'a closing tag too many',
    page: `${buildFrontMatter()}Text.\n\n{% /hint %}\n`,
    line: BODY_START_LINE + 2,
    message: 'missing opening',
  },
  {
    name: 'a hint without text',
    page: `${buildFrontMatter()}{% hint /%}\n`,
    line: BODY_START_LINE,
    message: 'holds nothing',
  },
  {
    name: 'a title that is no text',
    page: `${buildFrontMatter()}{% hint title=5 %}\nText.\n{% /hint %}\n`,
    line: BODY_START_LINE,
    message: "Attribute 'title' must be type of 'String'",
  },
  {
    name: 'a level that is a text',
    page: `${buildFrontMatter()}{% swagger spec="cloud" tag="service" level="2" /%}\n`,
    line: BODY_START_LINE,
    message: "Attribute 'level' must be type of 'Number'",
  },
  {
    name: 'text inside an operation',
    page: `${buildFrontMatter()}{% swagger spec="cloud" tag="service" level=2 %}\nText.\n{% /swagger %}\n`,
    line: BODY_START_LINE,
    message: 'self-closing',
  },
  {
    name: 'a variable',
    page: `${buildFrontMatter()}Text {% $name %}.\n`,
    line: BODY_START_LINE,
    message: 'name',
  },
  {
    name: 'a function',
    page: `${buildFrontMatter()}Text {% shout("x") %}.\n`,
    line: BODY_START_LINE,
    message: 'shout',
  },
  {
    name: 'a tab without a label',
    page: `${buildFrontMatter()}{% tabs group="a" %}\n{% tab %}\nA.\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: BODY_START_LINE + 1,
    message: "Missing required attribute: 'label'",
  },
  {
    name: 'a tab outside of tabs',
    page: `${buildFrontMatter()}{% tab label="A" %}\nText.\n{% /tab %}\n`,
    line: BODY_START_LINE,
    message: '"tab" stands in "tabs" only',
  },
  {
    name: 'tabs in a tab',
    page: `${buildFrontMatter()}{% tabs group="a" %}\n{% tab label="A" %}\n{% tabs group="b" %}\n{% tab label="A" %}\nA.\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: BODY_START_LINE + 2,
    message: '"tabs" cannot stand in "tab"',
  },
  {
    name: 'an operation in a hint',
    page: `${buildFrontMatter()}{% hint %}\n{% swagger spec="cloud" tag="service" level=2 /%}\n{% /hint %}\n`,
    line: BODY_START_LINE + 1,
    message: '"swagger" cannot stand in "hint"',
  },
  {
    name: 'a release in a hint',
    page: `${buildFrontMatter()}{% hint %}\n{% release version="1.0.0" title="One" date="2026-01-31" %}\nText.\n{% /release %}\n{% /hint %}\n`,
    line: BODY_START_LINE + 1,
    message: '"release" cannot stand in "hint"',
  },
  {
    name: 'a heading in a tab, where nobody may see it',
    page: `${buildFrontMatter()}{% tabs group="a" %}\n{% tab label="A" %}\n## One\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: BODY_START_LINE + 2,
    message: 'The heading "One" cannot stand in "tab"',
  },
  {
    name: 'a heading without a letter for an anchor',
    page: `${buildFrontMatter()}## 日本\n`,
    line: BODY_START_LINE,
    message: 'has no letter that an anchor could be made of',
  },
  {
    name: 'a version that is none',
    page: `${buildFrontMatter()}{% release version="1.0" title="One" date="2026-01-31" %}\nText.\n{% /release %}\n`,
    line: BODY_START_LINE,
    message: "Attribute 'version' must match",
  },
  {
    name: 'a release without a title',
    page: `${buildFrontMatter()}{% release version="1.0.0" date="2026-01-31" %}\nText.\n{% /release %}\n`,
    line: BODY_START_LINE,
    message: "Missing required attribute: 'title'",
  },
  {
    name: 'a picture that is a folder',
    page: `${buildFrontMatter()}{% image src="." alt="None" /%}\n`,
    line: BODY_START_LINE,
    message: '"." does not exist',
  },
  {
    name: 'a missing picture as Markdown has them',
    page: `${buildFrontMatter()}Text\n![None](no.png)\n`,
    line: BODY_START_LINE + 1,
    message: '"no.png" does not exist',
  },
  {
    name: 'an attribute of a code reference that is none',
    page: `${buildFrontMatter()}{% code-reference file="content/case-0/page.md" form="x" /%}\n`,
    line: BODY_START_LINE,
    message: "Invalid attribute: 'form'",
  },
  {
    name: 'a code reference without a file',
    page: `${buildFrontMatter()}{% code-reference from="x" /%}\n`,
    line: BODY_START_LINE,
    message: "Missing required attribute: 'file'",
  },
  {
    name: 'a code reference to a folder',
    page: `${buildFrontMatter()}{% code-reference file="content" /%}\n`,
    line: BODY_START_LINE,
    message: '"content" is not a file',
  },
  {
    name: 'front matter that does not end',
    page: '---\ntitle: A page\n\nText.\n',
    line: 1,
    message: 'front matter',
  },
  {
    name: 'a field given twice',
    page: buildFrontMatter('title: Again\n'),
    line: 5,
    message: 'not valid YAML',
  },
  { name: 'front matter that is a list', page: '---\n- title\n---\n', line: 2, message: 'names with values' },
  {
    name: 'no intro',
    page: '---\ntitle: A page\nnavOrder: 10\n---\n',
    line: 2,
    message: 'lacks "intro"',
  },
  {
    name: 'an intro too short',
    page: buildFrontMatter().replace('A description of this page, in one line.', 'Short.'),
    line: 3,
    message: 'must have 20 to 240 characters and has 6',
  },
  {
    name: 'a field that is none',
    page: buildFrontMatter('color: red\n'),
    line: 5,
    message: '"color", which is not a field',
  },
  {
    name: 'a navOrder that is no number',
    page: buildFrontMatter().replace('10', 'first'),
    line: 4,
    message: 'must be a whole number',
  },
  { name: 'front matter that is not YAML', page: '---\ntitle: [\n---\n', line: 2, message: 'not valid YAML' },
];

describe('a mistake in a page is reported with its file and line', () => {
  // Each page alone in a folder; all are read at once, because most of the time is the compiler's start.
  let found: string[];
  beforeAll(async () => {
    const files = cases.flatMap(({ page }, index) => [
      [`case-${index}/folder.yaml`, `label: Case ${index}\nnavOrder: ${index}\n`],
      [`case-${index}/page.md`, page],
    ]);
    found = await listProblems(Object.fromEntries(files));
  });

  test.for(cases.map((one, index) => ({ ...one, index })))('$name', ({ index, line, message }) => {
    const own = found.filter((mistake) => mistake.startsWith(`content/case-${index}/`));
    expect(own).toHaveLength(1);
    expect(own[0]).toContain(`content/case-${index}/page.md:${line}: `);
    expect(own[0]).toContain(message);
  });

  test('and in no other place', () => {
    expect(found).toHaveLength(cases.length);
  });
});
