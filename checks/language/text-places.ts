/** Reads the names and texts of a source: declared identifiers, comments, strings and prose. */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, type Source } from '../source-files.ts';
import { lineNumberAt, parseSource } from '../syntax.ts';

/** A text and its place in a source. */
export interface TextPlace {
  text: string;
  /** Line of the start of the text, from 1. */
  line: number;
}

/** The names and texts of a source. */
export interface SourceTexts {
  identifiers: readonly TextPlace[];
  comments: readonly TextPlace[];
  /** Strings with a space in them: messages, log lines, test titles. */
  strings: readonly TextPlace[];
}

function declaredNames(source: Source): TextPlace[] {
  const names: TextPlace[] = [];
  const add = (node: ESTree.Node | null | undefined) => {
    if (node?.type === 'Identifier' || node?.type === 'PrivateIdentifier')
      names.push({ text: node.name, line: lineNumberAt(source, node.start) });
  };
  const addPattern = (node: ESTree.Node | null | undefined): void => {
    if (node?.type === 'Identifier') add(node);
    if (node?.type === 'AssignmentPattern') addPattern(node.left);
    if (node?.type === 'RestElement') addPattern(node.argument);
    if (node?.type === 'TSParameterProperty') addPattern(node.parameter);
    if (node?.type === 'ArrayPattern') node.elements.forEach(addPattern);
    // Destructuring without renaming declares no name: the type of the object does.
    if (node?.type === 'ObjectPattern')
      for (const property of node.properties) {
        if (property.type === 'RestElement') addPattern(property.argument);
        else if (!property.shorthand) addPattern(property.value);
      }
  };
  const addFunction = (node: ESTree.Function | ESTree.ArrowFunctionExpression) => {
    if (node.type !== 'ArrowFunctionExpression') add(node.id);
    node.params.forEach(addPattern);
  };
  const addKey = (node: { key: ESTree.Node; computed?: boolean }) => {
    if (!node.computed) add(node.key);
  };
  new Visitor({
    VariableDeclarator: (node) => addPattern(node.id),
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    TSDeclareFunction: addFunction,
    ClassDeclaration: (node) => add(node.id),
    MethodDefinition: addKey,
    PropertyDefinition: addKey,
    TSInterfaceDeclaration: (node) => add(node.id),
    TSTypeAliasDeclaration: (node) => add(node.id),
    TSPropertySignature: addKey,
    TSMethodSignature: addKey,
    CatchClause: (node) => addPattern(node.param),
  }).visit(parseSource(source).program);
  return names;
}

function messageStrings(source: Source): TextPlace[] {
  const strings: TextPlace[] = [];
  const add = (text: string, node: ESTree.Node) => {
    if (/\s/.test(text.trim())) strings.push({ text, line: lineNumberAt(source, node.start) });
  };
  new Visitor({
    Literal(node) {
      if (typeof node.value === 'string') add(node.value, node);
    },
    TemplateLiteral(node) {
      add(node.quasis.map(({ value }) => value.cooked ?? value.raw).join('…'), node);
    },
    JSXText: (node) => add(node.value, node),
  }).visit(parseSource(source).program);
  return strings;
}

/** Returns the comments without their stars. Adjacent line comments are one text. */
function commentTexts(source: Source): TextPlace[] {
  const texts: { text: string; line: number; lastLine: number; isLine: boolean }[] = [];
  for (const { type, value, start, end } of parseSource(source).comments) {
    const line = lineNumberAt(source, start);
    const lastLine = lineNumberAt(source, end);
    const isLine = type === 'Line';
    const before = texts.at(-1);
    if (isLine && before?.isLine && before.lastLine === line - 1) {
      before.text += `\n${value}`;
      before.lastLine = line;
    } else texts.push({ text: value.replace(/^\s*\* ?/gm, ''), line, lastLine, isLine });
  }
  return texts.map(({ text, line }) => ({ text, line }));
}

const collected = new WeakMap<Source, SourceTexts>();

/** Reads a TypeScript source once; other files have no names and texts. */
export function collectTexts(source: Source): SourceTexts {
  const known = collected.get(source);
  if (known) return known;
  const texts = isCode(source)
    ? {
        identifiers: declaredNames(source),
        comments: commentTexts(source),
        strings: messageStrings(source),
      }
    : { identifiers: [], comments: [], strings: [] };
  collected.set(source, texts);
  return texts;
}

/** `BATCH_SIZE` → at, once; `isSQLReadOnly` → is, sql, read, only. */
export function splitWords(identifier: string): string[] {
  return identifier
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
