"""Models that have learned something: the course's own, and published ones from Hugging Face's and GGUF files."""

from utils.pretrained.config_files import read_config
from utils.pretrained.course_models import (
    COURSE_MODEL,
    DATA,
    STAGES,
    TINY_LLAMA,
    load_names_gpt,
    load_toy_gpt,
    load_toy_llama,
)
from utils.pretrained.gguf_files import GGUFFile, dequantize_q4_1
from utils.pretrained.hf_configs import cache_bytes_from_hf, config_from_hf, count_from_hf
from utils.pretrained.hf_files import stored_shapes
from utils.pretrained.hf_llama import load_llama
from utils.pretrained.hf_names import TRANSPOSED, to_course_name
from utils.pretrained.hf_weights import load_gpt2, save_gpt2
from utils.pretrained.hub import GPT2_NAMES
from utils.pretrained.known_configs import KNOWN_CONFIGS
from utils.pretrained.smollm import load_smollm, smollm_file, smollm_or_stand_in, smollm_tokenizer

__all__ = [
    "COURSE_MODEL",
    "DATA",
    "GPT2_NAMES",
    "KNOWN_CONFIGS",
    "STAGES",
    "TINY_LLAMA",
    "TRANSPOSED",
    "GGUFFile",
    "cache_bytes_from_hf",
    "config_from_hf",
    "count_from_hf",
    "dequantize_q4_1",
    "load_gpt2",
    "load_llama",
    "load_names_gpt",
    "load_smollm",
    "load_toy_gpt",
    "load_toy_llama",
    "read_config",
    "save_gpt2",
    "smollm_file",
    "smollm_or_stand_in",
    "smollm_tokenizer",
    "stored_shapes",
    "to_course_name",
]
