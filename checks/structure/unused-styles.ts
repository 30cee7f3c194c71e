/** The law of style sheets: a component uses every class of a CSS module. */
import { posix } from 'node:path';
import type { Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';

const MODULE = /\.module\.css$/;
const IMPORT = /import (\w+) from '([^']+\.module\.css)'/g;

/** Returns the classes of a style sheet, without those of other style sheets. */
function listClasses(text: string): Set<string> {
  const selectors = text
    .replace(/\/\*.*?\*\/|:global\([^)]*\)|url\([^)]*\)/gs, '')
    .replace(/(?<=[\s:(])-?\d*\.\d+/g, '');
  return new Set([...selectors.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => name));
}

/** Returns true if the component uses the class by its name, or by a key that it computes and names somewhere in `code`. */
function usesClass({ text }: Source, variable: string, name: string, code: string): boolean {
  if (new RegExp(`\\b${variable}\\.${name}\\b`).test(text)) return true;
  return (
    new RegExp(`\\b${variable}\\[`).test(text) && new RegExp(`['"\`]${name}['"\`]|\\b${name}:`).test(code)
  );
}

function findUnused(sheet: Source, components: readonly Source[], code: string): Violation[] {
  const users = components.flatMap((component) =>
    [...component.text.matchAll(IMPORT)]
      .filter(([, , from = '']) => posix.join(posix.dirname(component.path), from) === sheet.path)
      .map(([, variable = '']) => ({ component, variable })),
  );
  return [...listClasses(sheet.text)]
    .filter((name) => !users.some(({ component, variable }) => usesClass(component, variable, name, code)))
    .map((name) => ({
      path: sheet.path,
      line: sheet.text.slice(0, sheet.text.search(new RegExp(`\\.${name}\\b`))).split('\n').length,
      message: `has the class .${name}, which no component uses: delete it.`,
    }));
}

/** Finds classes of CSS modules that no component uses. */
export const unusedStyles: Law = {
  name: 'unused-styles',
  findViolations(sources) {
    const components = sources.filter(({ path }) => /\.tsx?$/.test(path) && !path.includes('.test.'));
    const code = components
      .filter(({ path }) => path.startsWith('console/'))
      .map(({ text }) => text)
      .join('\n');
    return sources
      .filter(({ path }) => MODULE.test(path))
      .flatMap((sheet) => findUnused(sheet, components, code));
  },
};
