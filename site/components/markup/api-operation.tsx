import { type CodeProps, HostProvider, type TabsProps } from '@switchyard/explorer/components/host.tsx';
import { OperationView } from '@switchyard/explorer/components/operation.tsx';
import type { CodeSample } from '@switchyard/explorer/model/operation/code-samples.ts';
import type { Operation } from '@switchyard/explorer/model/operation/read-operation.ts';
import { createContext, useContext } from 'react';
import type { HighlightedCode } from '../../page-data.ts';
import { CodeBlock } from './code-block.tsx';
import { TabPanel, Tabs } from './tabs.tsx';

/** The code of the current operation, coloured at build time. */
const Codes = createContext<readonly HighlightedCode[]>([]);

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

const host = { Code: HostCode, Tabs: HostTabs };

type Props = { operation: Operation; samples: CodeSample[]; codes: HighlightedCode[]; level: 2 | 3 };

/** The message in place of operations whose tag names no API, or an unknown one. */
export function MissingApi({ message }: { message: string }) {
  return (
    <div className="api">
      <p className="api-message">{message}</p>
    </div>
  );
}

/** An operation of the API, with the code blocks and tabs of the site. */
export function ApiOperation({ operation, samples, codes, level }: Props) {
  return (
    <Codes value={codes}>
      <HostProvider value={host}>
        <OperationView operation={operation} samples={samples} level={level} />
      </HostProvider>
    </Codes>
  );
}
