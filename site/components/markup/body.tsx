import Markdoc, { type RenderableTreeNodes } from '@markdoc/markdoc';
import { type CodeProps, HostProvider, type TabsProps } from '@switchyard/explorer/components/host.tsx';
import { OperationView } from '@switchyard/explorer/components/operation.tsx';
import type { CodeSample } from '@switchyard/explorer/model/operation/code-samples.ts';
import type { Operation } from '@switchyard/explorer/model/operation/read-operation.ts';
import * as React from 'react';
import { createContext, type ReactNode, useContext } from 'react';
import type { HighlightedCode, LastUpdated, Picture as PictureData } from '../../page-data.ts';
import { CodeBlock } from './code-block.tsx';
import { SearchAgain } from './search-form.tsx';
import { SignUp } from './sign-up.tsx';
import { TabPanel, Tabs } from './tabs.tsx';

/** Every component the content may name; the names are those of the files in generator/markup. */
const components = {
  ApiOperation,
  CodeBlock,
  ErrorMessage,
  Heading,
  Hint,
  MissingApi,
  Picture,
  Release,
  SearchAgain,
  ServiceStatus,
  SignUp,
  Table,
  TabPanel,
  Tabs,
};

/** The code of the current operation, coloured at build time. */
const Codes = createContext<readonly HighlightedCode[]>([]);

const host = { Code: HostCode, Tabs: HostTabs };

const hintTitles = { note: 'Note', tip: 'Tip', warning: 'Take care' };

/** The transformed markup of a page. */
export function Body({ tree }: { tree: RenderableTreeNodes }) {
  return Markdoc.renderers.react(tree, React, { components });
}

type Props = {
  id: string;
  version: string;
  title: string;
  text: string;
  date: LastUpdated;
  children?: ReactNode;
};

/** The notes of a release below its version, title and date. */
function Release({ id, version, title, text, date, children }: Props) {
  return (
    <section className="release">
      <Heading level={2} id={id} text={text}>
        <span className="badge">{version}</span> {title}
      </Heading>
      <p className="release-date">
        <time dateTime={date.iso}>{date.text}</time>
      </p>
      {children}
    </section>
  );
}

function HostCode({ language, code, caption }: CodeProps) {
  const coloured = useContext(Codes).find((one) => one.code === code && one.language === language);
  const lines = coloured?.lines ?? code.split('\n').map((text) => [{ text }]);
  return <CodeBlock language={language} lines={lines} {...(caption !== undefined && { caption })} />;
}

function HostTabs({ group, id, panels }: TabsProps) {
  return (
    <Tabs group={group} id={id} labels={panels.map(({ label }) => label)}>
      {panels.map(({ label, content }) => (
        <TabPanel key={label} label={label}>
          {content}
        </TabPanel>
      ))}
    </Tabs>
  );
}

type ApiOperationProps = {
  operation: Operation;
  samples: CodeSample[];
  codes: HighlightedCode[];
  level: 2 | 3;
};

/** The message in place of operations whose tag names no API, or an unknown one. */
function MissingApi({ message }: { message: string }) {
  return (
    <div className="api">
      <p className="api-message">{message}</p>
    </div>
  );
}

/** An operation of the API, with the code blocks and tabs of the site. */
function ApiOperation({ operation, samples, codes, level }: ApiOperationProps) {
  return (
    <Codes value={codes}>
      <HostProvider value={host}>
        <OperationView operation={operation} samples={samples} level={level} />
      </HostProvider>
    </Codes>
  );
}

/** The components the content's markup renders to; CodeBlock and Tabs have their own files. */

type HeadingProps = { level: number; id: string; text: string; children?: ReactNode };

function Heading({ level, id, text, children }: HeadingProps) {
  const Level = level === 2 ? 'h2' : 'h3';
  return (
    <Level id={id}>
      {children}{' '}
      <a className="permalink" href={`#${id}`} aria-label={`Link to “${text}”`}>
        #
      </a>
    </Level>
  );
}

type HintProps = { type: 'note' | 'tip' | 'warning'; title?: string; children?: ReactNode };

function Hint({ type, title, children }: HintProps) {
  return (
    <div className={`hint hint-${type}`} role="note" aria-label={title ?? hintTitles[type]}>
      <p className="hint-title">{title ?? hintTitles[type]}</p>
      {children}
    </div>
  );
}

type PictureProps = PictureData & { alt: string; caption?: string };

function Picture({ alt, caption, ...picture }: PictureProps) {
  return (
    <figure className="picture">
      {'markup' in picture ? (
        // The build has checked the drawing: it holds no script, style or handler.
        <div role="img" aria-label={alt} dangerouslySetInnerHTML={{ __html: picture.markup }} />
      ) : (
        <PictureFiles alt={alt} {...picture} />
      )}
      {caption !== undefined && <figcaption>{caption}</figcaption>}
    </figure>
  );
}

type FileProps = Exclude<PictureData, { markup: string }> & { alt: string };

/** The picture of each theme. The style sheet hides one, and a lazy picture that is hidden is not loaded. */
function PictureFiles({ url, darkUrl, alt, width, height }: FileProps) {
  const size = { width, height };
  if (darkUrl === undefined) return <img src={url} alt={alt} {...size} loading="lazy" />;
  return (
    <>
      <img className="in-light" src={url} alt={alt} {...size} loading="lazy" />
      <img className="in-dark" src={darkUrl} alt={alt} {...size} loading="lazy" />
    </>
  );
}

/** A table that scrolls on its own when the window is too narrow for it. */
function Table({ children }: { children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls.
    <div className="table" role="group" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

/** The place for the error message, which the server fills in. */
function ErrorMessage() {
  return <p data-error="" />;
}

/** The server's health, filled in by a script; without one the links lead to the same reports. */
function ServiceStatus() {
  return (
    <ul className="service-status" data-service-status="">
      <li data-address="/healthz">
        <a href="/healthz">/healthz</a> <span aria-live="polite">is the server alive?</span>
      </li>
      <li data-address="/readyz">
        <a href="/readyz">/readyz</a> <span aria-live="polite">can it take work?</span>
      </li>
    </ul>
  );
}
