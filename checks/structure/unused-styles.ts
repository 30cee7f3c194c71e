/** The law of style sheets: a component uses every class of a CSS module. */
import { posix } from 'node:path';
import type { Source } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';

const MODULE = /\.module\.css$/;
const IMPORT = /import (\w+) from '([^']+\.module\.css)'/g;
/** A text of one word, or the name of a property. */
const WORD = /['"`]([\w-]+)['"`]|\b(\w+):/g;

/** Returns the classes of a style sheet, without those of other style sheets. */
function listClasses(text: string): Set<string> {
  const selectors = text
    .replace(/\/\*.*?\*\/|:global\([^)]*\)|url\([^)]*\)/gs, '')
    .replace(/(?<=[\s:(])-?\d*\.\d+/g, '');
  return new Set([...selectors.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => name));
}

/** A component that imports a style sheet under a name. */
interface User {
  sheet: string;
  variable: string;
  text: string;
}

function listUsers(components: readonly Source[]): User[] {
  return components.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].map(([, variable = '', from = '']) => ({
      sheet: posix.join(posix.dirname(path), from),
      variable,
      text,
    })),
  );
}

/** Returns true if the component uses the class by its name, or computes a key that may be one of `words`. */
function usesClass({ text, variable }: User, name: string, words: ReadonlySet<string>): boolean {
  const names = text.matchAll(/\b(\w+)\.([a-zA-Z]\w*)\b/g);
  if ([...names].some(([, from, used]) => from === variable && used === name)) return true;
  return text.includes(`${variable}[`) && words.has(name);
}

/** Finds classes of CSS modules that no component uses. */
export const unusedStyles: Law = {
  name: 'unused-styles',
  findViolations(sources) {
    const components = sources.filter(({ path }) => /\.tsx?$/.test(path) && !path.includes('.test.'));
    const users = listUsers(components);
    const words = new Set(
      users.flatMap(({ text }) => [...text.matchAll(WORD)].map(([, quoted, key]) => quoted ?? key ?? '')),
    );
    return sources
      .filter(({ path }) => MODULE.test(path))
      .flatMap(({ path, text }): Violation[] => {
        const own = users.filter(({ sheet }) => sheet === path);
        return [...listClasses(text)]
          .filter((name) => !own.some((user) => usesClass(user, name, words)))
          .map((name) => ({
            path,
            line: text.slice(0, text.indexOf(`.${name}`)).split('\n').length,
            message: `has the class .${name}, which no component uses: delete it.`,
          }));
      });
  },
};
