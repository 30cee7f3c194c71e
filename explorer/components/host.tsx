import { type ComponentType, createContext, type ReactNode, useContext } from 'react';

export type CodeProps = { language: string; code: string; caption?: string };
export type TabsProps = {
  group: string;
  id: string;
  panels: readonly { label: string; content: ReactNode }[];
};

/** The components that the page around the explorer may replace, for code with colours and for tabs. */
type HostComponents = { Code: ComponentType<CodeProps>; Tabs: ComponentType<TabsProps> };

/** Code as plain text. */
function PlainCode({ code, caption }: CodeProps) {
  return (
    <figure className="api-code">
      {caption !== undefined && <figcaption>{caption}</figcaption>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}

/** All panels below each other, each with its label. */
function PlainTabs({ id, panels }: TabsProps) {
  return (
    <div id={id}>
      {panels.map(({ label, content }) => (
        <div key={label}>
          <p className="api-label">{label}</p>
          {content}
        </div>
      ))}
    </div>
  );
}

const HostContext = createContext<HostComponents>({ Code: PlainCode, Tabs: PlainTabs });

export const HostProvider = HostContext.Provider;

export function Code(props: CodeProps) {
  const { Code: HostCode } = useContext(HostContext);
  return <HostCode {...props} />;
}

export function Tabs(props: TabsProps) {
  const { Tabs: HostTabs } = useContext(HostContext);
  return <HostTabs {...props} />;
}
