"""The command `sandbox`: parses, calls, and turns every SandboxError into a sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from typer.exceptions import TyperException

from sandbox import cluster, control_plane, images, kafka, lifecycle, node, processes
from sandbox.console import console, note
from sandbox.errors import NotUp, SandboxError
from sandbox.layout import Layout, read_state
from sandbox.provider import ClusterProvider

app = typer.Typer(
    help="A real Kafka and a real single-node Kubernetes on this machine.", no_args_is_help=True, add_completion=False
)
broker_app = typer.Typer(help="Kill and start single brokers.", no_args_is_help=True)
node_app = typer.Typer(help="Freeze the node and let it go on.", no_args_is_help=True)
apiserver_app = typer.Typer(help="Stop, start and kill the API server.", no_args_is_help=True)
app.add_typer(broker_app, name="broker")
app.add_typer(node_app, name="node")
app.add_typer(apiserver_app, name="apiserver")

BrokerNumber = Annotated[int, typer.Argument(help="The broker's number, counted from 1.", min=1)]


def main() -> None:
    """Run the command line; every expected failure is one message, and exit code 1, or 2 for what was mistyped."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="sandbox", standalone_mode=False)
    except TyperException as error:
        console.print(f"[red]Error:[/red] {escape(error.format_message())} (see `sandbox --help`)", soft_wrap=True)
        sys.exit(error.exit_code)
    except SandboxError as error:
        console.print(f"[red]Error:[/red] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        console.print("Interrupted. `sandbox up` starts over, `sandbox down` removes what was started.")
        sys.exit(130)
    sys.exit(code or 0)


@app.command()
def up(
    brokers: Annotated[int | None, typer.Option(help="How many Kafka brokers.", min=1, max=3)] = None,
    no_cluster: Annotated[bool, typer.Option("--no-cluster", help="Start only Kafka.")] = False,
    no_images: Annotated[bool, typer.Option("--no-images", help="Build and load no images.")] = False,
    pipeline: Annotated[bool, typer.Option("--pipeline", help="The pipeline's image, too: a large one.")] = False,
) -> None:
    """Start everything that is not up yet, and wait until it is ready. Needs root: see docs/sandbox.md."""
    layout = Layout.from_environment()
    lifecycle.up(layout, lifecycle.Wish(brokers, not no_cluster, not no_images, pipeline))
    state = read_state(layout)
    if not no_cluster:
        note(f"Kubernetes: export KUBECONFIG={state['kubeconfig']}")
    note(f"Kafka:      {state['bootstrap_servers']}")


@app.command()
def down() -> None:
    """Stop everything, and check that no process, mount, bridge or rule is left."""
    lifecycle.down(Layout.from_environment())


@app.command()
def status() -> None:
    """Show what is up."""
    layout = Layout.from_environment()
    state = read_state(layout)
    if not state:
        note("The sandbox is down. Start it: sandbox up")
        return
    table = Table("Part", "State", "Pid")
    for name in processes.names(layout):
        process = processes.find(layout, name)
        shown = "[green]running[/green]" if process else "[red]died[/red]"
        table.add_row(name, shown, str(process.pid) if process else "")
    console.print(table)
    if state.get("cluster") == ClusterProvider.OWN:
        note(f"API server: {'ready' if control_plane.is_ready(layout) else 'not ready'}")
    note(f"Kubernetes: {state.get('cluster')}, kubeconfig {state.get('kubeconfig')}")
    note(f"Kafka:      {state.get('bootstrap_servers', 'not started')}")
    note(f"Logs:       {layout.logs}, or: sandbox logs NAME")


@app.command()
def image(
    which: Annotated[images.Released, typer.Argument(help="Whose.")] = images.Released.OPERATOR,
    to: Annotated[
        Path | None, typer.Option(help="Where to write it.", dir_okay=False, show_default="build/WHICH.tar")
    ] = None,
) -> None:
    """Build the operator's or the pipeline's image, without docker and podman: a docker archive. Needs root."""
    archive = to or Path("build") / f"{which}.tar"
    lifecycle.write_image(Layout.from_environment(), which, archive)
    note(f"slackwater/{which}:dev is in {archive}: load it, for example by `ctr images import {archive}`")


@app.command()
def kubeconfig() -> None:
    """Print the path of the kubeconfig: export KUBECONFIG=$(sandbox kubeconfig)."""
    path = read_state(Layout.from_environment()).get("kubeconfig")
    if path is None:
        raise NotUp("The sandbox is down.", todo="Start it: sandbox up")
    typer.echo(path)


@app.command()
def logs(
    name: Annotated[str, typer.Argument(help="A process, as `sandbox status` lists it.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on showing what is added.")] = False,
) -> None:
    """Show the log of one process."""
    layout = Layout.from_environment()
    file = processes.log_file(layout, name)
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in layout.logs.glob("*.log"))) or "none, the sandbox is down"
        raise NotUp(f"There is no log called {name!r}.", todo=f"There are: {known}.")
    sys.stdout.flush()
    os.execvp("tail", ["tail", "-n", "+1", *(["-F"] if follow else []), str(file)])


@broker_app.command("kill")
def kill_broker(number: BrokerNumber) -> None:
    """End a broker at once, as a crash would. Its data stay."""
    kafka.stop_broker(Layout.from_environment(), number, kill=True)


@broker_app.command("start")
def start_broker(number: BrokerNumber) -> None:
    """Start a broker again with its data, and wait until it serves."""
    kafka.start_broker(Layout.from_environment(), number)


@node_app.command("pause")
def pause_node() -> None:
    """Freeze the kubelet, the container runtime and every pod, as a machine that hangs."""
    frozen = processes.freeze_below(Layout.from_environment(), node.NODE)
    note(f"{frozen} processes are frozen. Kubernetes calls the node NotReady after 50 s. Go on: sandbox node resume")


@node_app.command("resume")
def resume_node() -> None:
    """Let the frozen node go on."""
    processes.thaw_below(Layout.from_environment(), node.NODE)


@apiserver_app.command("stop")
def stop_apiserver() -> None:
    """Stop the API server in good order."""
    control_plane.stop_apiserver(Layout.from_environment())


@apiserver_app.command("kill")
def kill_apiserver() -> None:
    """End the API server at once, as a crash would."""
    processes.kill(Layout.from_environment(), control_plane.APISERVER)


@apiserver_app.command("start")
def start_apiserver() -> None:
    """Start the API server again, and wait until it is ready."""
    cluster.restart_apiserver(Layout.from_environment())
