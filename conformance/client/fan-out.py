"""A workflow with every decorator of nextpipe: it prices twenty boxes by runs of another application."""

import json
import sys

import nextmv
from nextpipe import AppRunConfig, FlowSpec, app, foreach, join, log, needs, optional, repeat, step

BOXES = 20


class Prices(FlowSpec):
    @step
    def read(data: dict):
        """Checks the input."""
        return data

    @optional(condition=lambda _: False)
    @needs(predecessors=[read])
    @step
    def report(data: dict):
        """Never runs."""
        raise ValueError("This step is off.")

    @repeat(repetitions=3)
    @needs(predecessors=[read])
    @step
    def sample(data: dict):
        """Runs three times in the workflow itself."""
        return data["base"]

    @foreach()
    @needs(predecessors=[read])
    @step
    def boxes(data: dict):
        """Makes one input for each box."""
        return [AppRunConfig(input={"box": index, "base": data["base"]}) for index in range(BOXES)]

    @app(app_id="pricing")
    @needs(predecessors=[boxes])
    @step
    def price():
        """Prices one box by a run of the application."""

    @join()
    @needs(predecessors=[price])
    @step
    def total(prices: list):
        """Adds the prices."""
        log(f"{len(prices)} prices")
        return sum(one["solution"]["price"] for (one,) in prices)

    @needs(predecessors=[total, sample])
    @step
    def finish(total: int, samples: list):
        """Combines both branches."""
        return {"total": total, "samples": samples}


def main():
    flow = Prices("Prices", nextmv.load().data)
    flow.run()
    json.dump({"solution": flow.get_result(flow.finish)}, sys.stdout)


if __name__ == "__main__":
    main()
