/** Parses the YAML of a manifest. The parser is an argument, so that the start of the server does not load it. */

type ParseText = (text: string, options: { maxAliasCount: number }) => unknown;

/** More aliases are an attack: aliases of aliases multiply (the "billion laughs"). */
const ALIASES_MAX = 100;

/** Returns the value of the text in JSON, or the message that says why it has none. */
export function parseYaml(parse: ParseText, text: string): { json: string } | { error: string } {
  let manifest: unknown;
  try {
    manifest = parse(text, { maxAliasCount: ALIASES_MAX });
  } catch (error) {
    return {
      error: `app.yaml is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : ''}`,
    };
  }
  try {
    return { json: JSON.stringify(manifest) ?? 'null' };
  } catch {
    return { error: 'app.yaml is nested too deep.' };
  }
}
