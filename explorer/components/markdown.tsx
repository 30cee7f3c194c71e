import { Code } from './host.tsx';
import { type BlockNode, type InlineNode, parseMarkdown } from './markdown-parser.ts';

/** The tree never changes, so a place in it is a good key. */
const at = (index: number) => `${index}`;

function Words({ parts }: { parts: readonly InlineNode[] }) {
  return parts.map((part, index) => <Word key={at(index)} part={part} />);
}

function Word({ part }: { part: InlineNode }) {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'code') return <code>{part.text}</code>;
  if (part.kind === 'break') return <br />;
  if (part.kind === 'strong')
    return (
      <strong>
        <Words parts={part.children} />
      </strong>
    );
  if (part.kind === 'emphasis')
    return (
      <em>
        <Words parts={part.children} />
      </em>
    );
  return (
    <a href={part.href}>
      <Words parts={part.children} />
    </a>
  );
}

function Block({ node }: { node: BlockNode }) {
  if (node.kind === 'code') return <Code language="text" code={node.text} />;
  if (node.kind === 'rule') return <hr />;
  if (node.kind === 'table') return <Table node={node} />;
  if (node.kind === 'quote')
    return (
      <blockquote>
        <Blocks nodes={node.children} />
      </blockquote>
    );
  if (node.kind === 'list') {
    const List = node.ordered ? 'ol' : 'ul';
    return (
      <List>
        {node.items.map((item, index) => (
          <li key={at(index)}>
            <Item nodes={item} />
          </li>
        ))}
      </List>
    );
  }
  const words = <Words parts={node.children} />;
  return <p>{node.kind === 'heading' ? <strong>{words}</strong> : words}</p>;
}

/** An item of one paragraph needs no paragraph element. */
function Item({ nodes }: { nodes: readonly BlockNode[] }) {
  const [first, ...others] = nodes;
  if (first?.kind !== 'paragraph') return <Blocks nodes={nodes} />;
  return (
    <>
      <Words parts={first.children} />
      <Blocks nodes={others} />
    </>
  );
}

function Table({ node }: { node: Extract<BlockNode, { kind: 'table' }> }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and landmarks of one name are one too many.
    <div className="api-table" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {node.head.map((cell, index) => (
              <th key={at(index)}>
                <Words parts={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {node.rows.map((row, index) => (
            <tr key={at(index)}>
              {row.map((cell, column) => (
                <td key={at(column)}>
                  <Words parts={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Blocks({ nodes }: { nodes: readonly BlockNode[] }) {
  return nodes.map((node, index) => <Block key={at(index)} node={node} />);
}

/** A description. Headings in it are bold lines: they are not headings of the page. */
export function Markdown({ text }: { text: string }) {
  if (text.trim() === '') return null;
  return (
    <div className="api-text">
      <Blocks nodes={parseMarkdown(text)} />
    </div>
  );
}

/** A description of one line for a place where a link cannot stand; undefined when it is longer. */
export function formatSingleLine(text: string): string | undefined {
  const [first, ...others] = parseMarkdown(text);
  if (first?.kind !== 'paragraph' || others.length > 0) return undefined;
  const words = first.children.map((part) =>
    part.kind === 'text' || part.kind === 'code' ? part.text : undefined,
  );
  const line = words.includes(undefined) ? undefined : words.join('');
  return line !== undefined && line.length <= 160 ? line : undefined;
}
