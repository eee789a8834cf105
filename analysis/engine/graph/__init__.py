"""The import graph of a codebase: who imports whom, in which modules and layers, and where it goes in circles."""

from analysis.engine.graph.build import GraphBuilder, build_graph
from analysis.engine.graph.layers import LayerPlace, assign_layers, may_use
from analysis.engine.graph.model import Cycle, Edge, External, ImportGraph, Module
from analysis.engine.graph.view import architecture_graph

__all__ = [
    "Cycle",
    "Edge",
    "External",
    "GraphBuilder",
    "ImportGraph",
    "LayerPlace",
    "Module",
    "architecture_graph",
    "assign_layers",
    "build_graph",
    "may_use",
]
