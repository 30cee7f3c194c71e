import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

const formatRunPath = (application: string, run: string) =>
  `/console/apps/${encodeURIComponent(application)}/runs/${encodeURIComponent(run)}`;

/** Returns the function that opens the page of a run. */
export function useOpenRun(): (application: string, run: string) => void {
  const router = useRouter();
  return (application, run) => router.history.push(formatRunPath(application, run));
}

export interface RunLinkProps {
  application: string;
  run: string;
  children: ReactNode;
  className?: string | undefined;
  title?: string;
  tabIndex?: number;
}

/** A link to the page of a run. The browser handles clicks with a modifier, which open a tab or a window. */
export function RunLink({ application, run, ...rest }: RunLinkProps) {
  const openRun = useOpenRun();
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openRun(application, run);
  };
  return <a {...rest} href={formatRunPath(application, run)} onClick={open} />;
}
