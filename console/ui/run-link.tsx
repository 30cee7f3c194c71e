import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Returns the function that opens the page of a run. */
export function useOpenRun(): (application: string, run: string) => void {
  const navigate = useNavigate();
  return (application, run) =>
    void navigate({ to: '/apps/$application/runs/$run', params: { application, run } });
}

interface RunLinkProps {
  application: string;
  run: string;
  children: ReactNode;
  className?: string | undefined;
  title?: string;
  tabIndex?: number;
}

/** A link to the page of a run, which loads when the pointer rests on the link. */
export function RunLink({ application, run, className, ...rest }: RunLinkProps) {
  return (
    <Link
      {...rest}
      {...(className !== undefined && { className })}
      to="/apps/$application/runs/$run"
      params={{ application, run }}
    />
  );
}
