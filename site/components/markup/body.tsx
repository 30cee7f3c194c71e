import type { RenderableTreeNodes } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import * as React from 'react';
import { SearchAgain } from '../controls/search-form.tsx';
import { ApiOperation, MissingApi } from './api-operation.tsx';
import { ErrorMessage, Heading, Hint, Picture, ServiceStatus, Table } from './basic-tags.tsx';
import { CodeBlock } from './code-block.tsx';
import { Release } from './release.tsx';
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
