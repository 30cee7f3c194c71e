/** Prints a part of a response: what a JMESPath expression (https://jmespath.site) selects from it. */
import { compile, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import { CommandError } from '../errors/command-error.ts';
import { cleanText } from '../terminal/clean-text.ts';
import type { Selection } from '../terminal/output.ts';

/**
 * Returns the selection of an expression. Throws CommandError, now or with a text, when the expression is wrong or gets a value
 * of a wrong type. The selection also refuses a text that is not JSON. With `isJson` a list inside a list is JSON.
 */
export function parseSelection(expression: string, { isJson = false } = {}): Selection {
  const select = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandError(`--select is "${expression}"; it must be a JMESPath expression: ${reason}`);
    }
  };
  const compiled = select(() => compile(expression));
  return (json) => {
    const value = parseWithoutPrototypes(json);
    return formatSelected(
      select(() => TreeInterpreter.search(compiled, value)),
      isJson,
    );
  };
}

/** Every value of JSON is a JSONValue. */
const parseValue = createJsonParser(Type.Unsafe<JSONValue>({}));

function parseJson(json: string): JSONValue {
  try {
    return parseValue(json, 'The content');
  } catch {
    throw new CommandError('The content is not JSON, from which --select could select. Leave out --select.');
  }
}

/** Returns the JSON value. The interpreter reads inherited fields, so `constructor` would select a function of JavaScript. */
function parseWithoutPrototypes(json: string): JSONValue {
  const value = parseJson(json);
  const rest = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (isScalar(next)) continue;
    if (!Array.isArray(next)) Object.setPrototypeOf(next, null);
    for (const child of Object.values(next)) if (!isScalar(child)) rest.push(child);
  }
  return value;
}

/**
 * Each element of a list has a line. A shell reads these lines. So strings have no quotes, and a list of scalars has tabs
 * between them. null prints nothing, and an empty line in a list.
 */
function formatSelected(value: JSONValue, isJson: boolean): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map((element) => `${formatElement(element, isJson)}\n`).join('');
  return `${typeof value === 'object' ? JSON.stringify(value, null, 2) : formatScalar(value)}\n`;
}

function formatElement(element: JSONValue, isJson: boolean): string {
  if (!isJson && Array.isArray(element) && element.every(isScalar))
    return element.map(formatScalar).join('\t');
  return isScalar(element) ? formatScalar(element) : JSON.stringify(element);
}

type Scalar = string | number | boolean | null;

function isScalar(value: JSONValue): value is Scalar {
  return value === null || typeof value !== 'object';
}

function formatScalar(value: Scalar): string {
  return value === null ? '' : cleanText(String(value));
}
