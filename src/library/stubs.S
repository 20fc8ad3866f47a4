/*
 * stubs.S - the functions of libraries that are loaded when they are needed (library.h), a list for each library.
 *
 * A stub is a jump through a slot, which library.c fills. So code calls the library by the names of its header,
 * and a name that is missing here is an error of the linker.
 */

/* "library NAME" begins a list: library_NAME_names, which are texts, and library_NAME_slots, in the same order. */
    .macro library name
    .section .rodata
    .globl library_\name\()_names
    .hidden library_\name\()_names
library_\name\()_names:
    .bss
    .balign 8
    .globl library_\name\()_slots
    .hidden library_\name\()_slots
library_\name\()_slots:
    .endm

    .macro end_library
    .section .rodata
    .byte 0
    .endm

    .macro stub name
    .section .rodata
    .asciz "\name"
    .bss
slot_\name:
    .skip 8
    .text
    .globl \name
    .hidden \name
    .type \name, %function
\name:
#if defined(__x86_64__)
    jmp *slot_\name(%rip)
#elif defined(__aarch64__)
    adrp x16, slot_\name
    ldr x16, [x16, :lo12:slot_\name]
    br x16
#else
#error "stubs are written for x86-64 and aarch64"
#endif
    .size \name, . - \name
    .endm

    library expat
    stub XML_ParserCreate
    stub XML_ParserFree
    stub XML_SetUserData
    stub XML_SetElementHandler
    stub XML_GetBuffer
    stub XML_ParseBuffer
    stub XML_StopParser
    stub XML_GetErrorCode
    stub XML_ErrorString
    stub XML_GetCurrentLineNumber
    end_library

    library libdw
    stub dwfl_addrmodule
    stub dwfl_begin
    stub dwfl_build_id_find_elf
    stub dwfl_end
    stub dwfl_lineinfo
    stub dwfl_linux_proc_find_elf
    stub dwfl_linux_proc_report
    stub dwfl_module_addrinfo
    stub dwfl_module_addrname
    stub dwfl_module_getsrc
    stub dwfl_module_info
    stub dwfl_report_begin
    stub dwfl_report_elf
    stub dwfl_report_end
    stub dwfl_standard_find_debuginfo
    end_library

    library metis
    stub METIS_PartGraphKway
    stub METIS_PartGraphRecursive
    stub METIS_SetDefaultOptions
    end_library

    library nlopt
    stub nlopt_create
    stub nlopt_destroy
    stub nlopt_force_stop
    stub nlopt_optimize
    stub nlopt_set_initial_step1
    stub nlopt_set_lower_bounds1
    stub nlopt_set_maxeval
    stub nlopt_set_min_objective
    stub nlopt_set_population
    stub nlopt_set_upper_bounds1
    stub nlopt_set_xtol_abs1
    stub nlopt_srand
    end_library

    library otf2
    stub OTF2_Archive_Close
    stub OTF2_Archive_CloseDefFiles
    stub OTF2_Archive_CloseDefWriter
    stub OTF2_Archive_CloseEvtFiles
    stub OTF2_Archive_CloseEvtWriter
    stub OTF2_Archive_GetDefWriter
    stub OTF2_Archive_GetEvtWriter
    stub OTF2_Archive_GetGlobalDefWriter
    stub OTF2_Archive_Open
    stub OTF2_Archive_OpenDefFiles
    stub OTF2_Archive_OpenEvtFiles
    stub OTF2_Archive_SetCreator
    stub OTF2_Archive_SetFlushCallbacks
    stub OTF2_Archive_SetProperty
    stub OTF2_Archive_SetSerialCollectiveCallbacks
    stub OTF2_Error_GetDescription
    stub OTF2_Error_RegisterCallback
    stub OTF2_EvtReaderCallbacks_Delete
    stub OTF2_EvtReaderCallbacks_New
    stub OTF2_EvtReaderCallbacks_SetEnterCallback
    stub OTF2_EvtReaderCallbacks_SetLeaveCallback
    stub OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback
    stub OTF2_EvtReaderCallbacks_SetMpiIrecvCallback
    stub OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback
    stub OTF2_EvtReaderCallbacks_SetMpiIsendCallback
    stub OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback
    stub OTF2_EvtReaderCallbacks_SetMpiRecvCallback
    stub OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback
    stub OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback
    stub OTF2_EvtReaderCallbacks_SetMpiSendCallback
    stub OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback
    stub OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback
    stub OTF2_EvtReaderCallbacks_SetParameterIntCallback
    stub OTF2_EvtReaderCallbacks_SetParameterStringCallback
    stub OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback
    stub OTF2_EvtReaderCallbacks_SetRmaAtomicCallback
    stub OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback
    stub OTF2_EvtReaderCallbacks_SetRmaGetCallback
    stub OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback
    stub OTF2_EvtReaderCallbacks_SetRmaPutCallback
    stub OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback
    stub OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback
    stub OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback
    stub OTF2_EvtReaderCallbacks_SetUnknownCallback
    stub OTF2_EvtReader_ApplyClockOffsets
    stub OTF2_EvtReader_ApplyMappingTables
    stub OTF2_EvtWriter_Enter
    stub OTF2_EvtWriter_GetNumberOfEvents
    stub OTF2_EvtWriter_Leave
    stub OTF2_EvtWriter_MpiCollectiveBegin
    stub OTF2_EvtWriter_MpiCollectiveEnd
    stub OTF2_EvtWriter_MpiIrecv
    stub OTF2_EvtWriter_MpiIrecvRequest
    stub OTF2_EvtWriter_MpiIsend
    stub OTF2_EvtWriter_MpiIsendComplete
    stub OTF2_EvtWriter_MpiRecv
    stub OTF2_EvtWriter_MpiRequestCancelled
    stub OTF2_EvtWriter_MpiRequestTest
    stub OTF2_EvtWriter_MpiSend
    stub OTF2_EvtWriter_NonBlockingCollectiveComplete
    stub OTF2_EvtWriter_NonBlockingCollectiveRequest
    stub OTF2_EvtWriter_ParameterInt
    stub OTF2_EvtWriter_ParameterString
    stub OTF2_EvtWriter_RmaAcquireLock
    stub OTF2_EvtWriter_RmaAtomic
    stub OTF2_EvtWriter_RmaCollectiveBegin
    stub OTF2_EvtWriter_RmaCollectiveEnd
    stub OTF2_EvtWriter_RmaGet
    stub OTF2_EvtWriter_RmaGroupSync
    stub OTF2_EvtWriter_RmaOpCompleteBlocking
    stub OTF2_EvtWriter_RmaPut
    stub OTF2_EvtWriter_RmaReleaseLock
    stub OTF2_EvtWriter_RmaSync
    stub OTF2_EvtWriter_RmaWinCreate
    stub OTF2_EvtWriter_RmaWinDestroy
    stub OTF2_GlobalDefReaderCallbacks_Delete
    stub OTF2_GlobalDefReaderCallbacks_New
    stub OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback
    stub OTF2_GlobalDefReaderCallbacks_SetCommCallback
    stub OTF2_GlobalDefReaderCallbacks_SetGroupCallback
    stub OTF2_GlobalDefReaderCallbacks_SetInterCommCallback
    stub OTF2_GlobalDefReaderCallbacks_SetLocationCallback
    stub OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback
    stub OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback
    stub OTF2_GlobalDefReaderCallbacks_SetParameterCallback
    stub OTF2_GlobalDefReaderCallbacks_SetRegionCallback
    stub OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback
    stub OTF2_GlobalDefReaderCallbacks_SetStringCallback
    stub OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback
    stub OTF2_GlobalDefWriter_WriteClockProperties
    stub OTF2_GlobalDefWriter_WriteComm
    stub OTF2_GlobalDefWriter_WriteGroup
    stub OTF2_GlobalDefWriter_WriteInterComm
    stub OTF2_GlobalDefWriter_WriteLocation
    stub OTF2_GlobalDefWriter_WriteLocationGroup
    stub OTF2_GlobalDefWriter_WriteLocationProperty
    stub OTF2_GlobalDefWriter_WriteParadigm
    stub OTF2_GlobalDefWriter_WriteParameter
    stub OTF2_GlobalDefWriter_WriteRegion
    stub OTF2_GlobalDefWriter_WriteRmaWin
    stub OTF2_GlobalDefWriter_WriteString
    stub OTF2_GlobalDefWriter_WriteSystemTreeNode
    stub OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain
    stub OTF2_Reader_Close
    stub OTF2_Reader_CloseDefFiles
    stub OTF2_Reader_CloseDefReader
    stub OTF2_Reader_CloseEvtFiles
    stub OTF2_Reader_CloseEvtReader
    stub OTF2_Reader_CloseGlobalDefReader
    stub OTF2_Reader_GetChunkSize
    stub OTF2_Reader_GetCompression
    stub OTF2_Reader_GetCreator
    stub OTF2_Reader_GetDefReader
    stub OTF2_Reader_GetEvtReader
    stub OTF2_Reader_GetGlobalDefReader
    stub OTF2_Reader_GetProperty
    stub OTF2_Reader_Open
    stub OTF2_Reader_OpenDefFiles
    stub OTF2_Reader_OpenEvtFiles
    stub OTF2_Reader_ReadAllGlobalDefinitions
    stub OTF2_Reader_ReadAllLocalDefinitions
    stub OTF2_Reader_ReadLocalEvents
    stub OTF2_Reader_RegisterEvtCallbacks
    stub OTF2_Reader_RegisterGlobalDefCallbacks
    stub OTF2_Reader_SelectLocation
    end_library

    library yajl
    stub yajl_alloc
    stub yajl_complete_parse
    stub yajl_free
    stub yajl_free_error
    stub yajl_get_bytes_consumed
    stub yajl_get_error
    stub yajl_parse
    end_library

    library zlib
    stub compress2
    stub compressBound
    end_library

    library zstd
    stub ZSTD_compressBound
    stub ZSTD_compressCCtx
    stub ZSTD_createCCtx
    stub ZSTD_decompress
    stub ZSTD_freeCCtx
    stub ZSTD_isError
    end_library

    .section .note.GNU-stack, "", %progbits
