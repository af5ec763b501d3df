"""Models of text, pictures and sound from transformers."""

import torch
from torch import nn

from .example import MODELS, Example, model, randomise, widen
from .images import scenes

VOCABULARY = 99
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": VOCABULARY}
SMALL_LLAMA = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64, "head_dim": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def tokens(batch, length):
    return torch.randint(3, VOCABULARY, (batch, length))


def mask(batch, length, left=False):
    """An attention mask whose rows have different lengths."""
    lengths = length - torch.arange(batch) % min(3, length)
    places = torch.arange(length)
    ones = places[None] < lengths[:, None]
    return (ones.flip(1) if left else ones).long()


def tiny(name, config, others=(), **fields):
    """A model of transformers by the names of its class and of its configuration."""
    import transformers

    attention = fields.pop("attention", None)
    made = getattr(transformers, config)(**fields)
    if attention:
        made._attn_implementation = attention
    return randomise(widen(getattr(transformers, name)(made))).eval()


def text(entry, name, config, extra=(), options=None, first=(2, 9), others=((3, 6), (3, 9)), left=False, **fields):
    """Adds a model whose inputs are tokens and their mask. `extra` names further inputs that are zero or one for each token."""

    def make():
        module = tiny(name, config, **fields)

        def inputs(batch, length):
            made = {"input_ids": tokens(batch, length), "attention_mask": mask(batch, length, left)}
            made.update({key: (torch.arange(length) * 2 // length).repeat(batch, 1) for key in extra})
            return made

        return Example(Fixed(module, **(options or {})), inputs(*first), [inputs(*other) for other in others])

    MODELS[entry] = make


class Fixed(nn.Module):
    """A model with some keyword arguments set, whose result is a tuple of tensors."""

    def __init__(self, module, **options):
        super().__init__()
        self.module, self.options = module, options

    def forward(
        self, input_ids=None, attention_mask=None, token_type_ids=None, decoder_input_ids=None, pixel_values=None, input_features=None,
        input_values=None, past_values=None,
    ):
        given = {name: value for name, value in locals().items() if isinstance(value, torch.Tensor)}
        result = self.module(**given, **self.options, return_dict=True)
        return tuple(value for value in result.values() if isinstance(value, torch.Tensor))


TYPES = ["token_type_ids"]
NO_CACHE = {"use_cache": False}
text("bert", "BertModel", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("bert_eager", "BertModel", "BertConfig", TYPES, attention="eager", **SMALL, max_position_embeddings=64)
text("bert_classifier", "BertForSequenceClassification", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("bert_mlm", "BertForMaskedLM", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("distilbert", "DistilBertModel", "DistilBertConfig", vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64)
text("roberta", "RobertaModel", "RobertaConfig", **SMALL, max_position_embeddings=64)
text("xlm_roberta", "XLMRobertaForTokenClassification", "XLMRobertaConfig", **SMALL, max_position_embeddings=64)
text("albert", "AlbertModel", "AlbertConfig", TYPES, **SMALL, embedding_size=16, max_position_embeddings=64)
text("electra", "ElectraModel", "ElectraConfig", TYPES, **SMALL, embedding_size=16, max_position_embeddings=64)
text("mpnet", "MPNetModel", "MPNetConfig", **SMALL, max_position_embeddings=64)
text("deberta_v2", "DebertaV2Model", "DebertaV2Config", TYPES, **SMALL, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], max_position_embeddings=64)
text("modernbert", "ModernBertModel", "ModernBertConfig", **SMALL, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, local_attention=4)
text("esm", "EsmModel", "EsmConfig", **SMALL, max_position_embeddings=64, pad_token_id=1, mask_token_id=2, position_embedding_type="rotary")
text("gpt2", "GPT2LMHeadModel", "GPT2Config", options=NO_CACHE, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
text("gpt2_eager", "GPT2LMHeadModel", "GPT2Config", options=NO_CACHE, attention="eager", vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
text("gpt_neo", "GPTNeoForCausalLM", "GPTNeoConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4, max_position_embeddings=64, bos_token_id=1, eos_token_id=2)
text("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", options=NO_CACHE, **SMALL, max_position_embeddings=64)
text("gptj", "GPTJForCausalLM", "GPTJConfig", options=NO_CACHE, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, bos_token_id=1, eos_token_id=2)
text("opt", "OPTForCausalLM", "OPTConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, ffn_dim=48, num_attention_heads=4, max_position_embeddings=64, word_embed_proj_dim=32)
text("bloom", "BloomForCausalLM", "BloomConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4)
text("falcon", "FalconForCausalLM", "FalconConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)
text("llama", "LlamaForCausalLM", "LlamaConfig", options=NO_CACHE, left=True, **SMALL_LLAMA)
text("llama_eager", "LlamaForCausalLM", "LlamaConfig", options=NO_CACHE, attention="eager", **SMALL_LLAMA)
text("mistral", "MistralForCausalLM", "MistralConfig", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4)
text("mixtral", "MixtralForCausalLM", "MixtralConfig", options=NO_CACHE, **SMALL_LLAMA, num_local_experts=4)
text("qwen2", "Qwen2ForCausalLM", "Qwen2Config", options=NO_CACHE, **SMALL_LLAMA)
text("qwen3", "Qwen3ForCausalLM", "Qwen3Config", options=NO_CACHE, **SMALL_LLAMA)
text("qwen2_moe", "Qwen2MoeForCausalLM", "Qwen2MoeConfig", options=NO_CACHE, **SMALL_LLAMA, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=32)
text("gemma", "GemmaForCausalLM", "GemmaConfig", options=NO_CACHE, **SMALL_LLAMA)
text("gemma2", "Gemma2ForCausalLM", "Gemma2Config", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4)
text("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4, layer_types=["sliding_attention", "full_attention"])
text("phi", "PhiForCausalLM", "PhiConfig", options=NO_CACHE, **{**SMALL_LLAMA, "num_key_value_heads": 4})
text("phi3", "Phi3ForCausalLM", "Phi3Config", options=NO_CACHE, **SMALL_LLAMA)
text("olmo2", "Olmo2ForCausalLM", "Olmo2Config", options=NO_CACHE, **SMALL_LLAMA)
text("granite", "GraniteForCausalLM", "GraniteConfig", options=NO_CACHE, **SMALL_LLAMA)
text("smollm3", "SmolLM3ForCausalLM", "SmolLM3Config", options=NO_CACHE, **SMALL_LLAMA)
text("cohere", "CohereForCausalLM", "CohereConfig", options=NO_CACHE, **SMALL_LLAMA)
text("stablelm", "StableLmForCausalLM", "StableLmConfig", options=NO_CACHE, **SMALL_LLAMA)
text("starcoder2", "Starcoder2ForCausalLM", "Starcoder2Config", options=NO_CACHE, **SMALL_LLAMA)
text("mamba", "MambaForCausalLM", "MambaConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4)
text("t5_encoder", "T5EncoderModel", "T5Config", vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)
text("xlnet", "XLNetModel", "XLNetConfig", vocab_size=VOCABULARY, d_model=32, n_layer=2, n_head=4, d_inner=48)


def seq2seq(entry, name, config, **fields):
    """Adds a model of transformers with an encoder and a decoder for text."""

    def make():
        module = tiny(name, config, **fields)

        def inputs(batch, source, target):
            return {"input_ids": tokens(batch, source), "attention_mask": mask(batch, source), "decoder_input_ids": tokens(batch, target)}

        return Example(Fixed(module, use_cache=False), inputs(2, 9, 5), [inputs(3, 7, 4), inputs(3, 9, 5)])

    MODELS[entry] = make


BART = {
    "vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}
T5 = {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
seq2seq("t5", "T5ForConditionalGeneration", "T5Config", **T5)
seq2seq("flan_t5", "T5ForConditionalGeneration", "T5Config", **T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
seq2seq("bart", "BartForConditionalGeneration", "BartConfig", **BART)
seq2seq("marian", "MarianMTModel", "MarianConfig", **BART, decoder_start_token_id=0)
seq2seq("pegasus", "PegasusForConditionalGeneration", "PegasusConfig", **BART)
seq2seq("m2m_100", "M2M100ForConditionalGeneration", "M2M100Config", **BART)


class Cached(nn.Module):
    """One step of a decoder. The keys and values of each layer are inputs, and the longer ones are outputs."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, input_ids, attention_mask, keys, values):
        from transformers import DynamicCache

        cache = DynamicCache(config=self.module.config)
        for k, pair in enumerate(zip(keys, values)):
            cache.update(*pair, k)
        result = self.module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        layers = result.past_key_values.layers
        return result.logits, [layer.keys for layer in layers], [layer.values for layer in layers]


def cached(entry, name, config, heads, layers=2, width=8, **fields):
    """Adds a decoder with a cache of keys and values."""

    def make():
        def inputs(batch, new, past):
            states = lambda: [torch.randn(batch, heads, past, width) for _ in range(layers)]
            return {"input_ids": tokens(batch, new), "attention_mask": mask(batch, past + new, left=True), "keys": states(), "values": states()}

        return Example(Cached(tiny(name, config, **fields)), inputs(2, 3, 6), [inputs(3, 2, 9), inputs(2, 3, 8), inputs(3, 3, 6)])

    MODELS[entry] = make


cached("gpt2_cache", "GPT2LMHeadModel", "GPT2Config", 4, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
cached("gpt2_cache_eager", "GPT2LMHeadModel", "GPT2Config", 4, attention="eager", vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
cached("llama_cache", "LlamaForCausalLM", "LlamaConfig", 2, **SMALL_LLAMA)
cached("qwen3_cache", "Qwen3ForCausalLM", "Qwen3Config", 2, **SMALL_LLAMA)


def pictures(entry, name, config, size=32, options=None, free=False, widened=True, **fields):
    """Adds a model of transformers for images."""

    def make():
        import transformers

        module = getattr(transformers, name)(getattr(transformers, config)(**fields))
        if widened:
            widen(module)
        inputs = lambda batch, height, width: {"pixel_values": scenes(batch, 3, height, width)}
        randomise(module, inputs(32, size, size)).eval()
        others = [inputs(3, size + 32, size + 64), inputs(3, size, size)][not free :]
        return Example(Fixed(module, **(options or {})), inputs(2, size, size), others)

    MODELS[entry] = make


VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32, "patch_size": 8}
pictures("vit", "ViTForImageClassification", "ViTConfig", **VIT)
pictures("deit", "DeiTModel", "DeiTConfig", **VIT)
pictures("beit", "BeitModel", "BeitConfig", **VIT, use_relative_position_bias=True, layer_scale_init_value=0.5)
pictures("dinov2", "Dinov2Model", "Dinov2Config", free=True, **VIT)
pictures("clip_vision", "CLIPVisionModel", "CLIPVisionConfig", **VIT)
pictures("siglip_vision", "SiglipVisionModel", "SiglipVisionConfig", **VIT)
pictures("swin", "SwinModel", "SwinConfig", 64, image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
pictures("swinv2", "Swinv2Model", "Swinv2Config", 64, image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
pictures("convnext", "ConvNextForImageClassification", "ConvNextConfig", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], free=True)
pictures("convnextv2", "ConvNextV2ForImageClassification", "ConvNextV2Config", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1])
pictures("resnet", "ResNetForImageClassification", "ResNetConfig", 64, embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 2, 1], free=True)
pictures("regnet", "RegNetForImageClassification", "RegNetConfig", 64, embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 2, 1], groups_width=8)
pictures("mobilenet_v1", "MobileNetV1ForImageClassification", "MobileNetV1Config", 64, depth_multiplier=0.25)
pictures("mobilenet_v2", "MobileNetV2ForImageClassification", "MobileNetV2Config", 64, depth_multiplier=0.35, free=True)
pictures("mobilevit", "MobileViTForImageClassification", "MobileViTConfig", 64, image_size=64, hidden_sizes=[32, 40, 48], neck_hidden_sizes=[8, 16, 24, 32, 40, 48, 64], num_attention_heads=4)
pictures("efficientnet", "EfficientNetForImageClassification", "EfficientNetConfig", 64, width_coefficient=0.35, depth_coefficient=0.5, hidden_dim=448)
pictures("levit", "LevitForImageClassification", "LevitConfig", 64, image_size=64, hidden_sizes=[32, 48, 64], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8])
pictures("poolformer", "PoolFormerForImageClassification", "PoolFormerConfig", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_scale_init_value=0.5)
pictures("segformer", "SegformerForSemanticSegmentation", "SegformerConfig", 64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=16, free=True)
pictures("pvt", "PvtForImageClassification", "PvtConfig", 64, image_size=64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1])
pictures("yolos", "YolosForObjectDetection", "YolosConfig", **{**VIT, "image_size": [32, 32]}, num_detection_tokens=5)
pictures("dpt", "DPTForDepthEstimation", "DPTConfig", **{**VIT, "num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 12, 16, 20], fusion_hidden_size=16, is_hybrid=False)
pictures("glpn", "GLPNForDepthEstimation", "GLPNConfig", 64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=16)
pictures("swin2sr", "Swin2SRForImageSuperResolution", "Swin2SRConfig", image_size=32, patch_size=1, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=8)
pictures("hiera", "HieraForImageClassification", "HieraConfig", 64, image_size=[64, 64], embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4])


@model
def detr():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    backbone = ResNetConfig(embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], out_features=["stage4"])
    config = DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=6,
    )
    module = randomise(widen(DetrForObjectDetection(config))).eval()
    return Example(Fixed(module), {"pixel_values": torch.randn(2, 3, 64, 64)}, [{"pixel_values": torch.randn(3, 3, 64, 64)}])


@model
def clip():
    from transformers import CLIPConfig

    import transformers

    words = {**SMALL, "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    module = transformers.CLIPModel(CLIPConfig(text_config=words, vision_config=VIT, projection_dim=16))
    randomise(widen(module)).eval()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = module

        def forward(self, input_ids, attention_mask, pixel_values):
            result = self.net(input_ids=input_ids, attention_mask=attention_mask, pixel_values=pixel_values)
            return result.logits_per_image, result.text_embeds, result.image_embeds

    def inputs(words, length, images):
        return {"input_ids": tokens(words, length), "attention_mask": mask(words, length), "pixel_values": torch.randn(images, 3, 32, 32)}

    return Example(Net(), inputs(3, 8, 2), [inputs(4, 6, 3), inputs(4, 8, 3)])


WHISPER = {
    "vocab_size": VOCABULARY, "num_mel_bins": 16, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_source_positions": 30, "max_target_positions": 24,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}


@model
def whisper():
    module = tiny("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER)
    inputs = lambda batch, length: {"input_features": torch.randn(batch, 16, 60), "decoder_input_ids": tokens(batch, length)}
    return Example(Fixed(module, use_cache=False), inputs(2, 7), [inputs(3, 5), inputs(3, 7)])


@model
def whisper_encoder():
    module = tiny("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER).model.encoder
    inputs = lambda batch: {"input_features": torch.randn(batch, 16, 60)}
    return Example(Fixed(module), inputs(2), [inputs(3)])


def sound(entry, name, config, **fields):
    """Adds a model of transformers for waveforms."""

    def make():
        module = tiny(name, config, **fields)
        inputs = lambda batch, length: {"input_values": torch.randn(batch, length)}
        return Example(Fixed(module), inputs(2, 800), [inputs(3, 1000), inputs(3, 800)])

    MODELS[entry] = make


WAVE = {**SMALL, "conv_dim": (8, 8, 8), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 2), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2, "num_feat_extract_layers": 3}
sound("wav2vec2", "Wav2Vec2Model", "Wav2Vec2Config", **WAVE)
sound("wav2vec2_ctc", "Wav2Vec2ForCTC", "Wav2Vec2Config", **WAVE, do_stable_layer_norm=True, feat_extract_norm="layer")
sound("hubert", "HubertModel", "HubertConfig", **WAVE)
sound("wavlm", "WavLMModel", "WavLMConfig", **WAVE)


@model
def audio_spectrogram_transformer():
    module = tiny("ASTForAudioClassification", "ASTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_length=48, num_mel_bins=32)
    inputs = lambda batch: {"input_values": torch.randn(batch, 48, 32)}
    return Example(Fixed(module), inputs(2), [inputs(3)])


@model
def patchtst():
    module = tiny("PatchTSTForPrediction", "PatchTSTConfig", num_input_channels=3, context_length=32, patch_length=8, patch_stride=8, prediction_length=4, d_model=16, num_hidden_layers=2, ffn_dim=32)
    inputs = lambda batch: {"past_values": torch.randn(batch, 32, 3)}
    return Example(Fixed(module), inputs(2), [inputs(3)])
