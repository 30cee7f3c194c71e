/** The shape of every tool of the MCP server, and the check of its arguments. */
import type { Client } from '@switchyard/contract/client.ts';
import type { Right } from '@switchyard/contract/roles.ts';
import type { Answer } from './answers.ts';
import type { JsonSchema } from './json-schema.ts';

/** The arguments of a call. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** A tool. It acts on its arguments alone, never on text that the server returns. */
export interface AgentTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  /** The right that a caller needs. */
  right: Right;
  isReadOnly: boolean;
  /** true: the change is not undone by another call. */
  isDestructive: boolean;
  run(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer>;
}

/** Throws an error that names an unknown or missing argument. */
export function checkArguments({ name, inputSchema }: AgentTool, args: ToolArguments): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const unknown = Object.keys(args).filter((one) => !known.includes(one));
  const missing = (inputSchema.required ?? []).filter((one) => args[one] === undefined);
  if (unknown.length > 0)
    throw new Error(`${name} has no argument ${unknown.join(', ')}; it has ${known.join(', ') || 'none'}.`);
  if (missing.length > 0) throw new Error(`${name} needs the argument ${missing.join(', ')}.`);
}

/** Returns the schema of an argument that is a text. */
export const textArgument = (description: string): JsonSchema => ({ type: 'string', description });

/** Returns a text among the arguments. Throws for an empty one and for another type. */
export function readText(args: ToolArguments, name: string): string {
  const value = args[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`${name} must be a text.`);
}
