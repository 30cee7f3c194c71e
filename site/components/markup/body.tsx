import type { RenderableTreeNodes } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import type { ReactNode } from 'react';
import * as React from 'react';
import type { LastUpdated } from '../../page-data.ts';
import { SearchAgain } from '../controls/search-form.tsx';
import { ApiOperation, MissingApi } from './api-operation.tsx';
import { ErrorMessage, Heading, Hint, Picture, ServiceStatus, Table } from './basic-tags.tsx';
import { CodeBlock } from './code-block.tsx';
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
